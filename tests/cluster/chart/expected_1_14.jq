# What the values of karpenter_1_14.yaml must have become, over the object `kubectl -o json` prints of all that was rendered:
# one line per wish that did not come true.
def only($kind): [.items[] | select(.kind == $kind)] | if length == 1 then .[0] else error("\(length) objects of kind \($kind)") end;
. as $all | only("StatefulSet") as $set | $set.spec.template as $template | $template.spec as $pod
| ($pod.containers[] | select(.name == "manager")) as $main | ($pod.containers[] | select(.name == "proxy")) as $side
| ($main.env | map({key: .name, value: .value}) | from_entries) as $env
| only("ServiceAccount") as $account | only("Service") as $service | only("PodDisruptionBudget") as $budget
| ([$all.items[] | select(.kind == "ClusterRole" and .metadata.name == "fleet-scaler")][0]) as $role
| ({"app.kubernetes.io/instance": "rel", "app.kubernetes.io/name": "scaler"}) as $own
| [ ["fullnameOverride", $set.metadata.name, "fleet-scaler"],
    ["nameOverride", $set.spec.selector.matchLabels, $own],
    ["additionalLabels", ([$all.items[].metadata.labels["cost-centre"]] | unique), ["42"]],
    ["additionalAnnotations", ([$all.items[].metadata.annotations.owner] | unique), ["platform"]],
    ["imagePullPolicy", $main.imagePullPolicy, "Always"],
    ["imagePullSecrets", $pod.imagePullSecrets, [{name: "pull"}]],
    ["service.annotations", $service.metadata.annotations["prometheus.io/scrape"], "true"],
    ["serviceAccount.name", [$account.metadata.name, $pod.serviceAccountName], ["karpenter", "karpenter"]],
    ["serviceAccount.annotations", $account.metadata.annotations["eks.amazonaws.com/role-arn"], "arn:aws:iam::111122223333:role/KarpenterControllerRole-demo"],
    ["additionalClusterRoleRules", $role.rules[-1].resources, ["configmaps"]],
    ["replicas", $set.spec.replicas, 3],
    ["revisionHistoryLimit", $set.spec.revisionHistoryLimit, 4],
    ["podLabels", $template.metadata.labels.tier, "control"],
    ["podAnnotations", $template.metadata.annotations["sidecar.istio.io/inject"], "false"],
    ["podDisruptionBudget", [$budget.metadata.name, $budget.spec.maxUnavailable], ["karpenter", 2]],
    ["podSecurityContext", $pod.securityContext.supplementalGroups, [7]],
    ["priorityClassName", $pod.priorityClassName, "system-node-critical"],
    ["terminationGracePeriodSeconds", $pod.terminationGracePeriodSeconds, 77],
    ["hostNetwork", $pod.hostNetwork, true],
    ["schedulerName", $pod.schedulerName, "other-scheduler"],
    ["dnsPolicy", $pod.dnsPolicy, "Default"],
    ["dnsConfig", $pod.dnsConfig.options[0].name, "ndots"],
    ["initContainers", $pod.initContainers[0].name, "wait"],
    ["nodeSelector", $pod.nodeSelector.pool, "system"],
    ["affinity", $pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels, $own],
    ["affinity, preferred", $pod.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector.matchLabels, $own],
    ["topologySpreadConstraints", [$pod.topologySpreadConstraints[0] | .maxSkew, .labelSelector.matchLabels], [2, $own]],
    ["tolerations", $pod.tolerations, [{key: "system", operator: "Exists"}]],
    ["extraVolumes", [$pod.volumes[].name], ["certs"]],
    ["controller.image", $main.image, "registry.invalid/scaler:v9@sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"],
    ["controller.env", $env.AWS_REGION, "eu-central-1"],
    ["controller.envFrom", $main.envFrom[0].configMapRef.name, "extra"],
    ["controller.securityContext", [$main.securityContext | .appArmorProfile.type, .seLinuxOptions.level, .seccompProfile.type], ["RuntimeDefault", "s0:c1,c2", "RuntimeDefault"]],
    ["the container is locked down", [$main.securityContext | .runAsUser, .readOnlyRootFilesystem, .allowPrivilegeEscalation, .capabilities.drop], [65532, true, false, ["ALL"]]],
    ["the data directory is the one writable place", [$main.volumeMounts[] | select(.readOnly != true).mountPath], ["/data"]],
    ["controller.resources", $main.resources.limits.memory, "1Gi"],
    ["controller.extraVolumeMounts", [$main.volumeMounts[].mountPath], ["/data", "/certs"]],
    ["controller.sidecarContainer", $side.image, "envoy"],
    ["controller.sidecarVolumeMounts", [$side.volumeMounts[].mountPath], ["/certs", "/more-certs"]],
    ["controller.metrics.port", [($main.ports[] | select(.name == "http-metrics").containerPort), $service.spec.ports[0].port], [9080, 9080]],
    ["controller.healthProbe.port", [$main.ports[] | select(.name == "http").containerPort], [9081]],
    ["probes", [$main.livenessProbe.httpGet | .path, .port], ["/healthz", "http"]],
    ["the environment", ($env | del(.AWS_REGION)), {
      LOG_LEVEL: "debug", LOG_OUTPUT_PATHS: "stdout,/data/karst.log", LOG_ERROR_OUTPUT_PATHS: "stderr", METRICS_PORT: "9080",
      HEALTH_PROBE_PORT: "9081", BATCH_MAX_DURATION: "20s", BATCH_IDLE_DURATION: "2s", PREFERENCE_POLICY: "Ignore", MIN_VALUES_POLICY: "BestEffort",
      CLUSTER_CA_BUNDLE: "LS0tLS1CRUdJTg==", CLUSTER_NAME: "demo", CLUSTER_ENDPOINT: "https://demo.invalid", ISOLATED_VPC: "true", EKS_CONTROL_PLANE: "true",
      VM_MEMORY_OVERHEAD_PERCENT: "0.05", INTERRUPTION_QUEUE: "demo", ENABLE_ZONAL_SHIFT: "true", RESERVED_ENIS: "1", IGNORE_DRA_REQUESTS: "false",
      DISABLE_CLUSTER_STATE_OBSERVABILITY: "true", DISABLE_DRY_RUN: "true", AMI_REFRESH_INTERVAL: "2m", SUBNET_REFRESH_INTERVAL: "3m",
      SCHEDULER_CONFIG: "podTopologySpread: {defaultConstraints: []}",
      FEATURE_GATES: "NodeRepair=true,NodeOverlay=true,ReservedCapacity=false,SpotToSpotConsolidation=true,StaticCapacity=true,CapacityBuffer=true"}]
  ] | .[] | select(.[1] != .[2]) | "\(.[0]): \(.[1] | tojson), not \(.[2] | tojson)"
