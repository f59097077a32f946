// Checks what karst exports with code that is not karst's: golang.org/x/mod/sumdb/note and tlog, the
// packages of Go's checksum database. Everything is then damaged, and must be refused.
//
//	verifier KEY FOLDER OLD_CHECKPOINT CONSISTENCY WHOLE_TRAIL PARTIAL_TRAIL…
//
// Ends with "N passed, N failed".
package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

var passed, failed int

func expect(good bool, what string, args ...any) {
	if good {
		passed++
		return
	}
	failed++
	fmt.Printf("FAILED: "+what+"\n", args...)
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Println("FAILED:", err)
		fmt.Printf("%d passed, %d failed\n", passed, failed+1)
		os.Exit(1)
	}
	return value
}

func openCheckpoint(verifier note.Verifier, data []byte) (tlog.Tree, error) {
	opened, err := note.Open(data, note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] == "" || lines[3] != "" {
		return tlog.Tree{}, fmt.Errorf("a checkpoint has three lines, this has %q", opened.Text)
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// The static files. tlog names tiles tile/HEIGHT/LEVEL/…; C2SP's layout leaves the height (8) away.
type folder struct {
	path   string
	damage string // the file of which one bit is flipped
}

func (f folder) read(path string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(f.path, path))
	if err == nil && path == f.damage {
		data = bytes.Clone(data)
		data[len(data)/2] ^= 1
	}
	return data, err
}

func (f folder) Height() int { return 8 }

func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		data, err := f.read("tile/" + strings.TrimPrefix(tile.Path(), "tile/8/"))
		if err != nil {
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

func (f folder) SaveTiles([]tlog.Tile, [][]byte) {}

// Every tile that a tree of these leaves has, byte for byte. (tlog's reader holds only some of what it
// reads against the tree's hash.)
func checkTiles(f folder, tree tlog.Tree, leaves memory) error {
	root, err := tlog.TreeHash(tree.N, leaves)
	if err == nil && root != tree.Hash {
		err = fmt.Errorf("the leaves lead to root %v, the checkpoint says %v", root, tree.Hash)
	}
	if err != nil {
		return err
	}
	for _, tile := range tlog.NewTiles(8, 0, tree.N) {
		want, err := tlog.ReadTileData(tile, leaves)
		if err != nil {
			return err
		}
		path := "tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		data, err := f.read(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, want) {
			return fmt.Errorf("%s is not the tile of these leaves", path)
		}
	}
	return nil
}

// Reads all leaf hashes through the tiles, and checks them against the bundles.
func checkFolder(f folder, tree tlog.Tree) error {
	reader := tlog.TileHashReader(tree, f)
	var leaves memory
	for first := int64(0); first < tree.N; first += 256 {
		width := min(256, tree.N-first)
		var indexes []int64
		for i := range width {
			indexes = append(indexes, tlog.StoredHashIndex(0, first+i))
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return err
		}
		tile := tlog.Tile{H: 8, L: -1, N: first / 256, W: int(width)}
		path := "tile/entries/" + strings.TrimPrefix(tile.Path(), "tile/8/data/")
		bundle, err := f.read(path)
		if err != nil {
			return err
		}
		for i := range width {
			if len(bundle) < 2 || len(bundle) < 2+int(binary.BigEndian.Uint16(bundle)) {
				return fmt.Errorf("%s is cut off", path)
			}
			end := 2 + int(binary.BigEndian.Uint16(bundle))
			leaf := tlog.RecordHash(bundle[2:end])
			if leaf != hashes[i] {
				return fmt.Errorf("%s: leaf %d has another hash than its tile says", path, first+i)
			}
			stored, err := tlog.StoredHashesForRecordHash(first+i, leaf, leaves)
			if err != nil {
				return err
			}
			leaves = append(leaves, stored...)
			bundle = bundle[end:]
		}
		if len(bundle) != 0 {
			return fmt.Errorf("%s has more than its leaves", path)
		}
	}
	return checkTiles(f, tree, leaves)
}

type line struct {
	Trail, Log, Checkpoint string
	Complete               bool
	Position               int64
	Bytes, Salt            []byte
	Front, Commitment      []byte
	Path                   []tlog.Hash
}

// The leaf as docs/audit.md describes it.
func (l line) leaf() ([]byte, error) {
	if l.Commitment != nil {
		return append(bytes.Clone(l.Front), l.Commitment...), nil
	}
	if len(l.Bytes) < 48 {
		return nil, fmt.Errorf("position %d has no header", l.Position)
	}
	front := (48 + int(binary.LittleEndian.Uint16(l.Bytes[42:])) + 7) / 8 * 8
	if len(l.Bytes) < front {
		return nil, fmt.Errorf("position %d is cut off", l.Position)
	}
	commitment := sha256.Sum256(append(bytes.Clone(l.Salt), l.Bytes[front:]...))
	return append(bytes.Clone(l.Bytes[:front]), commitment[:]...), nil
}

func readTrail(path string) []line {
	file := must(os.Open(path))
	defer file.Close()
	var lines []line
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var l line
		must(0, json.Unmarshal(scanner.Bytes(), &l))
		lines = append(lines, l)
	}
	return lines
}

type memory []tlog.Hash

func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, index := range indexes {
		out = append(out, m[index])
	}
	return out, nil
}

// The root follows from all leaves, or each path leads to it.
func checkTrail(lines []line, tree tlog.Tree) error {
	var stored memory
	for i, l := range lines[1 : len(lines)-1] {
		leaf, err := l.leaf()
		if err != nil {
			return err
		}
		hash := tlog.RecordHash(leaf)
		if !lines[0].Complete {
			if err := tlog.CheckRecord(tlog.RecordProof(l.Path), tree.N, tree.Hash, l.Position-1, hash); err != nil {
				return fmt.Errorf("position %d: %w", l.Position, err)
			}
			continue
		}
		if l.Position != int64(i)+1 {
			return fmt.Errorf("position %d in place of %d", l.Position, i+1)
		}
		hashes, err := tlog.StoredHashesForRecordHash(int64(i), hash, stored)
		if err != nil {
			return err
		}
		stored = append(stored, hashes...)
	}
	if !lines[0].Complete {
		return nil
	}
	root, err := tlog.TreeHash(int64(len(lines)-2), stored)
	if err == nil && root != tree.Hash {
		err = fmt.Errorf("the events lead to root %v, the checkpoint says %v", root, tree.Hash)
	}
	return err
}

func testTrail(verifier note.Verifier, path string) {
	lines := readTrail(path)
	end := lines[len(lines)-1]
	tree, err := openCheckpoint(verifier, []byte(end.Checkpoint))
	expect(err == nil, "%s: its checkpoint: %v", path, err)
	testCheckpoint(verifier, path, []byte(end.Checkpoint))
	err = checkTrail(lines, tree)
	expect(err == nil, "%s: %v", path, err)
	for i := 1; i < len(lines)-1; i += max(1, len(lines)/50) {
		whole := lines[i]
		for _, field := range [][]byte{whole.Bytes, whole.Salt, whole.Front, whole.Commitment} {
			if len(field) == 0 {
				continue
			}
			field[len(field)/2] ^= 4
			expect(checkTrail(lines, tree) != nil, "%s: line %d may be damaged", path, i+1)
			field[len(field)/2] ^= 4
		}
		for j := range whole.Path {
			lines[i].Path[j][5] ^= 1
			expect(checkTrail(lines, tree) != nil, "%s: line %d, hash %d may be damaged", path, i+1, j)
			lines[i].Path[j][5] ^= 1
		}
	}
}

// The bytes of the note's one signature: Go's base64 leaves the last two bits of its text unread.
func signature(data []byte) []byte {
	fields := bytes.Fields(data)
	decoded, err := base64.StdEncoding.DecodeString(string(fields[len(fields)-1]))
	if err != nil {
		return nil
	}
	return decoded
}

// Every bit of it, text and signature.
func testCheckpoint(verifier note.Verifier, path string, data []byte) {
	signed, same := signature(data), 0
	for bit := range len(data) * 8 {
		data[bit/8] ^= 1 << (bit % 8)
		_, err := openCheckpoint(verifier, data)
		if err == nil && bit/8 >= bytes.LastIndex(data, []byte("\n\n")) && bytes.Equal(signature(data), signed) {
			same++
		} else {
			expect(err != nil, "%s: bit %d of its checkpoint may be flipped", path, bit)
		}
		data[bit/8] ^= 1 << (bit % 8)
	}
	expect(same <= 2, "%s: %d flips of its checkpoint are other ways to write the same signature, at most 2", path, same)
	fmt.Printf("%s: each of %d bits of its checkpoint flipped, %d of them another way to write the same signature\n", path, len(data)*8, same)
}

// Of a large tree one file for each level and each form of a name: first, middle and last.
const allFilesMax = 100

func chosen(files []string) []string {
	if len(files) <= allFilesMax {
		return files
	}
	groups := map[string][]string{}
	for _, file := range files {
		level := strings.Split(file, "/")[1]
		form := fmt.Sprintf("%s/%d/%v", level, strings.Count(file, "/"), strings.Contains(file, ".p/"))
		groups[form] = append(groups[form], file)
	}
	var some []string
	for _, group := range groups {
		for _, at := range []int{0, len(group) / 2, len(group) - 1} {
			if !slices.Contains(some, group[at]) {
				some = append(some, group[at])
			}
		}
	}
	slices.Sort(some)
	return some
}

func testFolder(verifier note.Verifier, path string) tlog.Tree {
	f := folder{path: path}
	data := must(f.read("checkpoint"))
	tree, err := openCheckpoint(verifier, data)
	expect(err == nil, "%s/checkpoint: %v", path, err)
	testCheckpoint(verifier, path, data)
	err = checkFolder(f, tree)
	expect(err == nil, "%s: %v", path, err)
	var files []string
	must(0, filepath.Walk(path+"/tile", func(name string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			files = append(files, strings.TrimPrefix(name, path+"/"))
		}
		return err
	}))
	for _, file := range chosen(files) {
		expect(checkFolder(folder{path, file}, tree) != nil, "%s may be damaged", file)
	}
	// Its own proofs, made from our tiles.
	reader := tlog.TileHashReader(tree, f)
	for index := int64(0); index < tree.N; index += max(1, tree.N/40) {
		proof, err := tlog.ProveRecord(tree.N, index, reader)
		expect(err == nil, "%s: no proof for leaf %d: %v", path, index, err)
		hashes := must(reader.ReadHashes([]int64{tlog.StoredHashIndex(0, index)}))
		expect(tlog.CheckRecord(proof, tree.N, tree.Hash, index, hashes[0]) == nil, "proof of leaf %d", index)
	}
	return tree
}

func testGrowth(verifier note.Verifier, oldPath, path string) {
	old, err := openCheckpoint(verifier, must(os.ReadFile(oldPath)))
	expect(err == nil, "%s: %v", oldPath, err)
	var growth struct {
		Old_size   int64
		Old_root   tlog.Hash
		Path       []tlog.Hash
		Checkpoint string
	}
	must(0, json.Unmarshal(must(os.ReadFile(path)), &growth))
	tree, err := openCheckpoint(verifier, []byte(growth.Checkpoint))
	expect(err == nil, "%s: %v", path, err)
	expect(growth.Old_size == old.N && growth.Old_root == old.Hash, "%s speaks of another old tree", path)
	check := func() error {
		return tlog.CheckTree(tlog.TreeProof(growth.Path), tree.N, tree.Hash, old.N, old.Hash)
	}
	err = check()
	expect(err == nil && tree.N > old.N, "%s: from %d to %d: %v", path, old.N, tree.N, err)
	for i := range growth.Path {
		growth.Path[i][31] ^= 16
		expect(check() != nil, "%s: hash %d may be damaged", path, i)
		growth.Path[i][31] ^= 16
	}
	old.Hash[0] ^= 1
	expect(check() != nil, "%s: the old root may be another", path)
}

func main() {
	if len(os.Args) < 6 {
		fmt.Fprintln(os.Stderr, "usage: verifier KEY FOLDER OLD_CHECKPOINT CONSISTENCY TRAIL…")
		os.Exit(2)
	}
	key := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 33))
	_, err := note.NewVerifier("karst.dev/other+00000000+" + key)
	expect(err != nil, "a key with a wrong ID is taken")
	verifier := must(note.NewVerifier(os.Args[1]))
	tree := testFolder(verifier, os.Args[2])
	testGrowth(verifier, os.Args[3], os.Args[4])
	for _, path := range os.Args[5:] {
		testTrail(verifier, path)
	}
	fmt.Printf("a tree of %d leaves, judged by golang.org/x/mod/sumdb\n", tree.N)
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
