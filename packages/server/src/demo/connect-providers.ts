import { configuredProviders, type Providers } from '../billing.ts'
import { braintreeEnvironment } from '../config/braintree-environment.ts'
import type { Config, SmtpSettings } from '../config/config.ts'
import { isListening } from './data-folder.ts'
import { mailboxSettings, sandboxFileIn, sandboxProviders, startProviders } from './providers.ts'
import { readStateFile } from './state-file.ts'

export interface ConnectedProviders {
  readonly providers: Providers
  /** The sandbox's current time. `null` in production. */
  readonly now: (() => Date) | null
  close(): Promise<void>
}

/**
 * Connects a command to the payment providers. In a demo, connects to the sandbox of the running
 * service, or starts a sandbox from its saved state if no service is running.
 */
export async function connectProviders(config: Config): Promise<ConnectedProviders> {
  if (config.mode === 'production') {
    return { providers: configuredProviders(config), now: null, close: async () => {} }
  }
  const { running, stripeWebhook } = readStateFile(config.dataDir)
  const { currency } = config.settings
  if (running && (await isListening(running.stripe))) {
    const { hostname, port } = new URL(running.stripe)
    return {
      providers: {
        stripe: {
          secret: running.stripeKey,
          webhookSecret: stripeWebhook?.secret ?? 'unknown',
          currency,
          config: { host: hostname, port, protocol: 'http' },
        },
        braintree: braintreeEnvironment({
          ...running.braintreeKeys,
          environment: 'sandbox',
          currency,
          apiUrl: running.braintree,
        }),
      },
      now: await readSandboxClock(running.controlRoom),
      close: async () => {},
    }
  }
  const { sandbox, close } = await startProviders({
    config: { ...config, port: 0 },
    servicePort: 0,
    stateFile: sandboxFileIn(config.dataDir),
    hasMailbox: false,
  })
  const secret = stripeWebhook?.secret ?? 'unknown'
  return {
    providers: sandboxProviders(sandbox, secret, currency),
    now: () => sandbox.clock.now(),
    close,
  }
}

/**
 * Returns the mail server of the configuration, or in a demo the sandbox's mailbox. `null` if there
 * is none, the demo is not running, or a function of the settings sends the mail.
 */
export async function connectMailServer(config: Config): Promise<SmtpSettings | null> {
  if (config.smtp || config.mode === 'production' || config.settings.mail?.send) return config.smtp
  const { running } = readStateFile(config.dataDir)
  const isRunning = running?.mailbox && (await isListening(running.stripe))
  return isRunning ? mailboxSettings(running.mailbox) : null
}

/** Reads the clock of a sandbox in another process. It may have been moved ahead of real time. */
async function readSandboxClock(controlRoom: string | null): Promise<(() => Date) | null> {
  if (controlRoom === null) return null
  const { now } = (await (await fetch(`${controlRoom}/index.json`)).json()) as { now: string }
  const ahead = Math.max(0, new Date(now).getTime() - Date.now())
  return () => new Date(Date.now() + ahead)
}
