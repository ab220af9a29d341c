/** The settings of a team with channels, and the Secret with their URLs. */
export const CHANNELS_YAML = `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata:
  name: team
spec:
  members:
    - { name: Ada, email: ada@example.com }
  notifications:
    channels:
      - { name: mail, type: Email, alertTypes: [Warning, Failure, Recovery, LimitWarning] }
      - { name: chat, type: Slack, secretRef: { name: channels, key: chat } } # or Discord, Webhook
---
apiVersion: v1
kind: Secret
metadata:
  name: channels
stringData:
  chat: https://hooks.slack.com/services/…
`
