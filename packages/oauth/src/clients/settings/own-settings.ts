import type { ServerContext } from '../../context.ts'
import type { OwnSettings } from '../../storage/client-settings.ts'
import { assertMethodOffered } from '../authentication-methods.ts'
import { assertAlgorithmOffered, assertDemandsOffered } from './demands.ts'
import { parseSettings } from './parse-settings.ts'

/**
 * Parses the settings that the application gives to a client.
 * @throws ValidationFailed if one is invalid, unknown, or needs something that the server does not
 * offer
 */
export function parseOwnSettings(
  given: { readonly [Name in keyof OwnSettings]?: OwnSettings[Name] | null },
  context: ServerContext,
): OwnSettings {
  const settings = parseSettings(given, context.options.issuer)
  assertMethodOffered(settings, context)
  assertDemandsOffered(settings, context)
  assertAlgorithmOffered(settings, context)
  return settings
}
