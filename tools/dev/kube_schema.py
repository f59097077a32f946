#!/usr/bin/env python3
"""The table of Kubernetes field names and types that manifests are checked against, from a real API server.

kube_schema.py SERVER TOKEN > src/objects/data/kubernetes.schema.inc
SERVER is the base address of an API server (tests/cluster/up.sh starts one), TOKEN a bearer token that may read /openapi/v3.
One line a type: its name, then FIELD:TYPE; the grammar of TYPE is in src/objects/schema.h.
"""
import json
import ssl
import sys
import urllib.request

GROUPS = ["api/v1", "apis/apps/v1", "apis/batch/v1", "apis/policy/v1", "apis/scheduling.k8s.io/v1", "apis/storage.k8s.io/v1"]
KINDS = {"Pod", "Node", "Namespace", "PersistentVolume", "PersistentVolumeClaim", "ReplicationController", "Deployment", "ReplicaSet",
         "StatefulSet", "DaemonSet", "Job", "CronJob", "PodTemplate", "PodDisruptionBudget", "PriorityClass", "StorageClass", "CSINode"}
SCALARS = {("string", None): "s", ("string", "byte"): "s", ("string", "date-time"): "t", ("boolean", None): "b", ("integer", "int32"): "i",
           ("integer", "int64"): "l", ("number", "double"): "n"}
# Said to be required, and not demanded by the API server.
OPTIONAL = {("CSINode", "spec"), ("CSINodeSpec", "drivers"), ("PriorityClass", "value"), ("SleepAction", "seconds")}
WELL_KNOWN = {"Quantity": "q", "IntOrString": "x", "Time": "t", "MicroTime": "t", "FieldsV1": "*", "RawExtension": "*"}


def read(server, token, path):
    request = urllib.request.Request(f"{server}/openapi/v3/{path}", headers={"Authorization": "Bearer " + token})
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with urllib.request.urlopen(request, context=context) as answer:
        return json.load(answer)["components"]["schemas"]


class Table:
    def __init__(self, schemas):
        self.schemas, self.lines, self.full_names = schemas, {}, {}

    def reference(self, full):
        short = full.rsplit(".", 1)[1]
        if short in WELL_KNOWN:
            return WELL_KNOWN[short]
        if self.full_names.setdefault(short, full) != full:
            raise SystemExit(f"two types are called {short}: {full}, {self.full_names[short]}")
        if short not in self.lines:
            self.lines[short] = ""
            schema = self.schemas[full]
            required = {field for field in schema.get("required", []) if (short, field) not in OPTIONAL}
            fields = [name + ":" + self.type_of(inner) + ("!" if name in required else "")
                      for name, inner in sorted(schema.get("properties", {}).items())]
            self.lines[short] = " ".join([short] + fields)
        return short

    def type_of(self, schema):
        if "allOf" in schema:
            return self.type_of(schema["allOf"][0])
        if "$ref" in schema:
            return self.reference(schema["$ref"].rsplit("/", 1)[1])
        if schema.get("type") == "array":
            return "[]" + self.type_of(schema["items"])
        if schema.get("type") == "object" and "additionalProperties" in schema:
            return "{}" + self.type_of(schema["additionalProperties"])
        if schema.get("type") in (None, "object"):
            return "*"
        scalar = SCALARS[(schema["type"], schema.get("format"))]
        return scalar + ("(" + "|".join(sorted(filter(None, schema["enum"]))) + ")" if "enum" in schema else "")


def main():
    schemas = {}
    for group in GROUPS:
        schemas.update(read(sys.argv[1], sys.argv[2], group))
    table = Table(schemas)
    for full, schema in sorted(schemas.items()):
        if any(gvk["kind"] in KINDS for gvk in schema.get("x-kubernetes-group-version-kind", [])) and full.rsplit(".", 1)[1] in KINDS:
            table.reference(full)
    print('R"schema(' + "\n".join(table.lines[name] for name in sorted(table.lines)) + '\n)schema"')


if __name__ == "__main__":
    main()
