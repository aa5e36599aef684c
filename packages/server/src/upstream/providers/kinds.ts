import { apple } from './apple.ts'
import { custom } from './custom.ts'
import { github } from './github.ts'
import { google } from './google.ts'
import { microsoft } from './microsoft.ts'
import type { ProviderKind, ProviderTools, UpstreamProvider } from './provider.ts'

/** The providers that need no issuer, by their id. */
export const presets = { google, github, microsoft, apple }

/** The name of a kind of provider: a preset, or `custom`. */
export type UpstreamKindName = 'google' | 'github' | 'microsoft' | 'apple' | 'custom'

/** All kinds of providers. */
export const kinds = { ...presets, custom } satisfies Record<UpstreamKindName, unknown>

/** A provider of the setting `signInWith`, with its secret. */
export interface ConfiguredProvider {
  /** Name of the provider in URLs and in the table `linked_identities`. */
  readonly id: string
  /** The preset, or `custom`. */
  readonly kind: UpstreamKindName
  /** The client secret, or Apple's private key. */
  readonly secret: string
  /** The member of the setting `signInWith`, as its kind parses it. */
  readonly settings: unknown
}

/** Creates a provider from its parsed settings. */
export function createProvider(
  { id, kind, secret, settings }: ConfiguredProvider,
  tools: ProviderTools,
): UpstreamProvider {
  return (kinds[kind] as ProviderKind<unknown>).create({ id, secret, settings }, tools)
}
