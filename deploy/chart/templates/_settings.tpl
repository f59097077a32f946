{{/* settings.X and the variable of `karst run` that carries it. */}}
{{- define "karst.settingNames" -}}
batchMaxDuration: BATCH_MAX_DURATION
batchIdleDuration: BATCH_IDLE_DURATION
preferencePolicy: PREFERENCE_POLICY
minValuesPolicy: MIN_VALUES_POLICY
clusterCABundle: CLUSTER_CA_BUNDLE
clusterName: CLUSTER_NAME
clusterEndpoint: CLUSTER_ENDPOINT
isolatedVPC: ISOLATED_VPC
eksControlPlane: EKS_CONTROL_PLANE
vmMemoryOverheadPercent: VM_MEMORY_OVERHEAD_PERCENT
interruptionQueue: INTERRUPTION_QUEUE
enableZonalShift: ENABLE_ZONAL_SHIFT
reservedENIs: RESERVED_ENIS
ignoreDRARequests: IGNORE_DRA_REQUESTS
disableClusterStateObservability: DISABLE_CLUSTER_STATE_OBSERVABILITY
disableDryRun: DISABLE_DRY_RUN
schedulerConfig: SCHEDULER_CONFIG
amiRefreshInterval: AMI_REFRESH_INTERVAL
subnetRefreshInterval: SUBNET_REFRESH_INTERVAL
{{- end -}}

{{/* Karpenter's own older names for the same: settings.aws.X (charts before 0.32). What has no new name has no effect. */}}
{{- define "karst.legacyNames" -}}
clusterName: clusterName
clusterEndpoint: clusterEndpoint
interruptionQueueName: interruptionQueue
vmMemoryOverheadPercent: vmMemoryOverheadPercent
isolatedVPC: isolatedVPC
reservedENIs: reservedENIs
defaultInstanceProfile: ""
enablePodENI: ""
enableENILimitedPodDensity: ""
nodeNameConvention: ""
tags: ""
assumeRoleARN: ""
assumeRoleDuration: ""
{{- end -}}

{{- define "karst.featureGates" -}}
{{- $known := list "nodeRepair" "nodeOverlay" "reservedCapacity" "spotToSpotConsolidation" "staticCapacity" "capacityBuffer" -}}
{{- $given := omit (default (dict) .Values.settings.featureGates) "drift" -}}{{/* drift: always on since Karpenter 1.0 */}}
{{- include "karst.refuseUnknown" (list "settings.featureGates" $given $known) -}}
{{- $gates := list -}}
{{- range $known -}}
{{- if hasKey $given . -}}{{- $gates = append $gates (printf "%s%s=%v" (upper (substr 0 1 .)) (substr 1 -1 .) (get $given .)) -}}{{- end -}}
{{- end -}}
{{- join "," $gates -}}
{{- end -}}

{{/* The settings that are given, under their present names: settings, settings.aws, and controller.clusterName of 0.5. */}}
{{- define "karst.settings" -}}
{{- $names := include "karst.settingNames" . | fromYaml -}}
{{- $legacy := include "karst.legacyNames" . | fromYaml -}}
{{- $aws := default (dict) .Values.settings.aws -}}
{{- $given := omit .Values.settings "aws" "featureGates" "assumeRoleARN" "assumeRoleDuration" -}}
{{- include "karst.refuseUnknown" (list "settings" $given (keys $names | sortAlpha)) -}}
{{- include "karst.refuseUnknown" (list "settings.aws" $aws (keys $legacy | sortAlpha)) -}}
{{- $settings := dict -}}
{{- range $key, $value := $given -}}
{{- if ne (toString $value) "" -}}{{- $_ := set $settings $key (toString $value) -}}{{- end -}}
{{- end -}}
{{- range $old, $value := $aws -}}
{{- $new := get $legacy $old -}}
{{- if and $new (ne (toString $value) "") -}}{{- $_ := set $settings $new (toString $value) -}}{{- end -}}
{{- end -}}
{{- range $key := list "clusterName" "clusterEndpoint" -}}
{{- with get $.Values.controller $key -}}{{- $_ := set $settings $key (trimAll "\"" .) -}}{{- end -}}
{{- end -}}
{{- toYaml $settings -}}
{{- end -}}

{{/* What stands under `karst`. A misspelt shadow is one that acts: nothing is passed over, neither a level too high nor under another name. */}}
{{- define "karst.checkOwn" -}}
{{- $known := list "cloud" "shadow" "storage" "extraArgs" -}}
{{- range $known -}}
{{- if hasKey $.Values . -}}{{- fail (printf "%s: there is no such setting; did you mean karst.%s?" . .) -}}{{- end -}}
{{- end -}}
{{- range $key, $value := omit .Values "karst" "global" -}}
{{- if kindIs "map" $value -}}{{- if hasKey $value "shadow" -}}{{- fail (printf "%s.shadow: there is no such setting; did you mean karst.shadow?" $key) -}}{{- end -}}{{- end -}}
{{- end -}}
{{- include "karst.refuseUnknown" (list "karst" .Values.karst $known) -}}
{{- include "karst.refuseUnknown" (list "karst.storage" .Values.karst.storage (list "emptyDir" "size" "storageClassName")) -}}
{{- range $key, $value := dict "karst.shadow" .Values.karst.shadow "karst.storage.emptyDir" .Values.karst.storage.emptyDir -}}
{{- if not (kindIs "bool" $value) -}}{{- fail (printf "%s: expected true or false, found %s" $key (toJson $value)) -}}{{- end -}}
{{- end -}}
{{- if not (kindIs "slice" .Values.karst.extraArgs) -}}{{- fail (printf "karst.extraArgs: expected a list, found %s" (toJson .Values.karst.extraArgs)) -}}{{- end -}}
{{- end -}}

{{/* The folder of the log. A shadow's is never that of one who acts. */}}
{{- define "karst.dataFolder" -}}
/data/{{ ternary "shadow" "log" .Values.karst.shadow }}
{{- end -}}

{{- define "karst.env" -}}
{{- $names := include "karst.settingNames" . | fromYaml -}}
- {name: LOG_LEVEL, value: {{ .Values.logLevel | quote }}}
- {name: LOG_OUTPUT_PATHS, value: {{ join "," .Values.logOutputPaths | quote }}}
- {name: LOG_ERROR_OUTPUT_PATHS, value: {{ join "," .Values.logErrorOutputPaths | quote }}}
- {name: METRICS_PORT, value: {{ .Values.controller.metrics.port | quote }}}
- {name: HEALTH_PROBE_PORT, value: {{ .Values.controller.healthProbe.port | quote }}}
- {name: FEATURE_GATES, value: {{ include "karst.featureGates" . | quote }}}
{{- range $key, $value := include "karst.settings" . | fromYaml }}
- {name: {{ get $names $key }}, value: {{ $value | quote }}}
{{- end }}
{{- with .Values.controller.env }}
{{ toYaml . }}
{{- end }}
{{- end -}}
