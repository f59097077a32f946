{{- define "karst.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "karst.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "karst.selectorLabels" -}}
app.kubernetes.io/name: {{ include "karst.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "karst.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "karst.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.additionalLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Metadata of every object. Call with a list: root, name, "namespaced" (in the release's), a namespace or "", annotations and labels of its own. */}}
{{- define "karst.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
{{- if index . 2 }}
namespace: {{ ternary $root.Release.Namespace (index . 2) (eq (index . 2) "namespaced") }}
{{- end }}
labels:
  {{- include "karst.labels" $root | nindent 2 }}
  {{- with index . 4 }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with mergeOverwrite (deepCopy $root.Values.additionalAnnotations) (default (dict) (index . 3)) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "karst.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "karst.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "karst.image" -}}
{{- $image := .Values.controller.image -}}
{{- if kindIs "string" $image -}}
{{- $image -}}
{{- else -}}
{{- $tag := default .Chart.AppVersion $image.tag -}}
{{- printf "%s:%s" $image.repository $tag -}}{{- with $image.digest -}}@{{ . }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Affinity and spread terms without a selector mean karst's own pods. Call with a list: root, terms. */}}
{{- define "karst.ownTerms" -}}
{{- $own := dict "matchLabels" (include "karst.selectorLabels" (index . 0) | fromYaml) -}}
{{- $terms := list -}}
{{- range index . 1 -}}
{{- if .podAffinityTerm -}}
{{- $inner := .podAffinityTerm -}}
{{- if not $inner.labelSelector -}}{{- $inner = merge (dict "labelSelector" $own) $inner -}}{{- end -}}
{{- $terms = append $terms (merge (dict "podAffinityTerm" $inner) (omit . "podAffinityTerm")) -}}
{{- else if .labelSelector -}}
{{- $terms = append $terms . -}}
{{- else -}}
{{- $terms = append $terms (merge (dict "labelSelector" $own) .) -}}
{{- end -}}
{{- end -}}
{{- toYaml $terms -}}
{{- end -}}

{{- define "karst.affinity" -}}
{{- $root := . -}}
{{- $affinity := deepCopy .Values.affinity -}}
{{- range $kind := list "podAffinity" "podAntiAffinity" -}}
{{- range $when, $terms := (default (dict) (get $affinity $kind)) -}}
{{- $_ := set (get $affinity $kind) $when (include "karst.ownTerms" (list $root $terms) | fromYamlArray) -}}
{{- end -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}

{{/* A name, and it without each of its letters. Names with one of these in common differ in a letter, or in two that changed places. */}}
{{- define "karst.nearForms" -}}
{{- $name := lower . -}}
{{- $forms := list $name -}}
{{- range $i := until (len $name) -}}
{{- $forms = append $forms (printf "%s%s" (substr 0 $i $name) (substr (int (add1 $i)) (len $name) $name)) -}}
{{- end -}}
{{- toJson $forms -}}
{{- end -}}

{{/* Refuses keys that are not known. Call with a list: where, what is given, what is known. */}}
{{- define "karst.refuseUnknown" -}}
{{- $where := index . 0 -}}{{- $known := index . 2 -}}
{{- range $key, $_ := index . 1 -}}
{{- if not (has $key $known) -}}
{{- $near := "" -}}
{{- $forms := include "karst.nearForms" $key | fromYamlArray -}}
{{- range $one := $known -}}
{{- if or (contains (lower $key) (lower $one)) (contains (lower $one) (lower $key)) -}}{{- $near = $one -}}{{- end -}}
{{- range include "karst.nearForms" $one | fromYamlArray -}}
{{- if has . $forms -}}{{- $near = $one -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- fail (printf "%s.%s: there is no such setting%s; there are: %s" $where $key (ternary "" (printf "; did you mean %s?" $near) (eq $near "")) (join ", " $known)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
