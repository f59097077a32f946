{{- define "karst.container" -}}
- name: {{ .Values.controller.containerName }}
  image: {{ include "karst.image" . }}
  imagePullPolicy: {{ .Values.imagePullPolicy }}
  args:
    - run
    - --cloud={{ .Values.karst.cloud }}
    - --data={{ include "karst.dataFolder" . }}
    {{- if .Values.karst.shadow }}
    - --shadow
    {{- end }}
    {{- range .Values.karst.extraArgs }}
    - {{ . | quote }}
    {{- end }}
  env:
    {{- include "karst.env" . | nindent 4 }}
  {{- with .Values.controller.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  ports:
    - {name: http-metrics, containerPort: {{ .Values.controller.metrics.port }}, protocol: TCP}
    - {name: http, containerPort: {{ .Values.controller.healthProbe.port }}, protocol: TCP}
  # Finding the API server and reading a long log again may take a while: /healthz answers meanwhile, /readyz when it is done.
  livenessProbe:
    httpGet: {path: /healthz, port: http}
    initialDelaySeconds: 30
    timeoutSeconds: 30
  readinessProbe:
    httpGet: {path: /readyz, port: http}
    initialDelaySeconds: 5
    timeoutSeconds: 30
  {{- with .Values.controller.resources }}
  resources:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  securityContext:
    privileged: false
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    capabilities: {drop: [ALL]}
    {{- range $key, $value := .Values.controller.securityContext }}
    {{- if $value }}
    {{ $key }}: {{ toJson $value }}
    {{- end }}
    {{- end }}
  volumeMounts:
    - {name: data, mountPath: /data}
    {{- with .Values.controller.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end -}}
