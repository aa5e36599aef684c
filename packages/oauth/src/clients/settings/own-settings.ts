import type { ServerContext } from '../../context.ts'
import type { ConfigurableClientSettings } from '../../storage/client-settings.ts'
import { assertAuthMethodOffered } from '../authentication-methods.ts'
import { assertAlgorithmOffered, assertClientRequirementsOffered } from './demands.ts'
import { parseSettings } from './parse-settings.ts'

/**
 * Parses the settings that the application gives to a client.
 * @throws ValidationFailed if one is invalid, unknown, or needs something that the server does not
 * offer
 */
export function parseOwnSettings(
  rawSettings: {
    readonly [Name in keyof ConfigurableClientSettings]?: ConfigurableClientSettings[Name] | null
  },
  context: ServerContext,
): ConfigurableClientSettings {
  const settings = parseSettings(rawSettings, context.options.issuer)
  assertAuthMethodOffered(settings, context)
  assertClientRequirementsOffered(settings, context)
  assertAlgorithmOffered(settings, context)
  return settings
}
