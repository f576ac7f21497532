{{- define "anabranch.name" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A worker's name: stages have underscores, names of Kubernetes none. Takes (dict "root" $ "stage" NAME). */}}
{{- define "anabranch.worker" -}}
{{- printf "%s-%s" (include "anabranch.name" .root) (replace "_" "-" .stage) -}}
{{- end -}}

{{/* The topic that each stage reads: streams/topology.py. A test compares them. */}}
{{- define "anabranch.sources" -}}
normalize: turns
localize_state: turns.normalized
extract_per_view: turns.localized
route: turns.extracted
commit: turns.routed
{{- end -}}

{{/* What a group or a topic of the generation is called: streams/kafka/names.py. Takes (dict "root" $ "name" NAME). */}}
{{- define "anabranch.ofGeneration" -}}
{{- $number := int .root.Values.generation -}}
{{- if or (eq $number 1) (eq .name "turns") -}}{{ .name }}{{- else -}}{{ printf "%s.g%d" .name $number }}{{- end -}}
{{- end -}}

{{- define "anabranch.image" -}}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}

{{- define "anabranch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "anabranch.labels" -}}
{{ include "anabranch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Which cluster, index and model: the same for workers, gateway and commands. */}}
{{- define "anabranch.env" -}}
- name: ANABRANCH_KAFKA
  value: {{ .Values.kafka.bootstrapServers | quote }}
- name: ANABRANCH_GENERATION
  value: {{ .Values.generation | quote }}
- name: ANABRANCH_QDRANT_URL
  value: {{ .Values.qdrant.url | quote }}
- name: ANABRANCH_QDRANT_GRPC_PORT
  value: {{ .Values.qdrant.grpcPort | quote }}
{{- with .Values.qdrant.apiKeySecret }}
{{- if .name }}
- name: ANABRANCH_QDRANT_API_KEY
  valueFrom: {secretKeyRef: {name: {{ .name }}, key: {{ .key }}}}
{{- end }}
{{- end }}
- name: ANABRANCH_EMBEDDER
  value: {{ .Values.embedder | quote }}
- name: ANABRANCH_THREADS
  value: {{ .Values.threads | quote }}
{{- with .Values.otlpEndpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What every pod has. Service links would set variables that begin with ANABRANCH_ and are no settings. */}}
{{- define "anabranch.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "anabranch.container" -}}
image: {{ include "anabranch.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities: {drop: [ALL]}
{{- end -}}
