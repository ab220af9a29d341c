/** The settings of a team with a channel of each type, and the Secret with their URLs. */
export const CHANNELS_YAML = `apiVersion: punctual.dev/v1alpha1
kind: TeamSettings
metadata:
  name: team
spec:
  members: # who gets the e-mails
    - { name: Ada, email: ada@example.com }
  notifications:
    channels:
      - name: mail
        type: Email
        alertTypes: [Warning, Failure, Recovery, LimitWarning] # without: all but Warning
      - { name: slack, type: Slack, secretRef: { name: channels, key: slack } }
      - { name: discord, type: Discord, secretRef: { name: channels, key: discord } }
      - { name: webhook, type: Webhook, secretRef: { name: channels, key: webhook } }
---
apiVersion: v1
kind: Secret
metadata:
  name: channels
stringData:
  slack: https://hooks.slack.com/services/…
  discord: https://discord.com/api/webhooks/…
  webhook: https://example.com/alerts
`
