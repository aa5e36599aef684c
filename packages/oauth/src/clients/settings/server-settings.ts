import type {
  ClientSettings,
  ConfigurableClientSettings,
  ServerSetting,
} from '../../storage/client-settings.ts'

const isServerSetting: Readonly<Record<ServerSetting, true>> = {
  sealed_secret: true,
  previous_secret: true,
  self_registered: true,
  verified: true,
  provider: true,
}

/**
 * Returns the settings that a client may choose for itself. Leaves out those that only the server
 * sets, such as an encrypted secret.
 * @example
 * ```ts
 * const client = await oauth.clients.find(id)
 * if (client) showForm(client.name, pickOwnSettings(client.settings))
 * ```
 */
export function pickOwnSettings(settings: ClientSettings): ConfigurableClientSettings {
  return pickSettings(settings, (name) => !Object.hasOwn(isServerSetting, name))
}

/** Returns the settings that only the server sets. */
export function pickServerSettings(settings: ClientSettings): Pick<ClientSettings, ServerSetting> {
  return pickSettings(settings, (name) => Object.hasOwn(isServerSetting, name))
}

function pickSettings(
  settings: ClientSettings,
  isWanted: (name: string) => boolean,
): ClientSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => isWanted(name)))
}
