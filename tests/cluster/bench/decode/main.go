// How fast does client-go read a PodList? Decodes each FILE, the JSON of one list, with the decoder that a typed client
// uses, and the same list as protobuf; prints the best of seven turns on one core. bench/decode.sh runs it beside ours.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	corev1 "k8s.io/api/core/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

const turns = 7

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "decode:", err)
		os.Exit(2)
	}
}

func measure(name string, kind string, decoder k8sruntime.Decoder, data []byte, jsonBytes int) {
	best := time.Duration(1 << 62)
	pods := 0
	for turn := 0; turn < turns; turn++ {
		runtime.GC()
		start := time.Now()
		list := &corev1.PodList{}
		_, _, err := decoder.Decode(data, nil, list)
		fail(err)
		best = min(best, time.Since(start))
		pods = len(list.Items)
	}
	fmt.Printf("%s client-go %-8s %6.0f MB/s of JSON, %8.0f pods/s\n", name, kind,
		float64(jsonBytes)/best.Seconds()/1e6, float64(pods)/best.Seconds())
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(100)
	fail(corev1.AddToScheme(scheme.Scheme))
	for _, file := range os.Args[1:] {
		data, err := os.ReadFile(file)
		fail(err)
		decoder := scheme.Codecs.UniversalDeserializer()
		measure(file, "JSON", decoder, data, len(data))
		object, _, err := decoder.Decode(data, nil, nil)
		fail(err)
		proto := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
		encoded, err := k8sruntime.Encode(scheme.Codecs.EncoderForVersion(proto, corev1.SchemeGroupVersion), object)
		fail(err)
		measure(file, "protobuf", proto, encoded, len(data))
	}
}
