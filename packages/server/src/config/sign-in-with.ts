import { z } from 'zod'
import {
  type ConfiguredProvider,
  kinds,
  presets,
  type UpstreamKindName,
} from '../upstream/providers/kinds.ts'
import type { ProviderKind } from '../upstream/providers/provider.ts'
import * as shapes from './shapes.ts'

const ID = /^[a-z][a-z0-9-]{0,29}$/

/** The providers that people can sign in with, in addition to passwords. */
export const signInWithShape = z.strictObject({
  google: presets.google.settings.optional(),
  github: presets.github.settings.optional(),
  microsoft: presets.microsoft.settings.optional(),
  apple: presets.apple.settings.optional(),
  custom: z
    .record(z.string(), kinds.custom.settings)
    .superRefine((value, context) => {
      for (const id of Object.keys(value)) {
        if (ID.test(id) && !Object.hasOwn(kinds, id)) continue
        const message = `'${id}' cannot be the id of a provider: use lower-case letters, digits and hyphens, and not the name of a preset`
        context.addIssue({ code: 'custom', message })
      }
    })
    .default({}),
})

/** Rules for requests to these providers. */
export const signInRequestsShape = shapes.requestRulesShape.extend({
  /**
   * Seconds to wait for the response of a provider, 1 to 30.
   * @default 5
   */
  timeout: z.number().min(1).max(30).default(5),
})

export type SignInWithSettings = z.output<typeof signInWithShape>

/** Name of the environment variable with the secret of a provider. */
export const secretVariable = (id: string) =>
  `TOLLGATE_SIGN_IN_${id.replaceAll('-', '_').toUpperCase()}_SECRET`

/** Whether an environment variable can be the secret of a provider. */
export const isSecretVariable = (name: string) => /^TOLLGATE_SIGN_IN_[A-Z0-9_]+_SECRET$/.test(name)

/**
 * Lists the providers of the setting with their secrets, which environment variables override.
 * Returns one sentence per missing or invalid secret, and a warning for each variable
 * without a provider.
 */
export function resolveSignInWith(
  settings: SignInWithSettings,
  environment: Readonly<Record<string, string | undefined>>,
): {
  readonly providers: readonly ConfiguredProvider[]
  readonly problems: readonly string[]
  readonly warnings: readonly string[]
} {
  const { custom, ...named } = settings
  const listed = [
    ...Object.entries(named).map(([id, value]) => ({
      id,
      kind: id as UpstreamKindName,
      value,
      path: id,
    })),
    ...Object.entries(custom).map(([id, value]) => ({
      id,
      kind: 'custom' as const,
      value,
      path: `custom.${id}`,
    })),
  ].filter(({ value }) => value !== undefined)
  const problems: string[] = []
  const providers = listed.map(({ id, kind, value, path }): ConfiguredProvider => {
    const { secretMember, findSecretProblem } = kinds[kind] as ProviderKind<unknown>
    const variable = secretVariable(id)
    const inFile = (value as Readonly<Record<string, unknown>>)[secretMember]
    const secret = environment[variable] || (typeof inFile === 'string' ? inFile : '')
    const wrong =
      secret === '' ? 'is missing' : findSecretProblem && prefix(findSecretProblem(secret))
    if (wrong) problems.push(`signInWith.${path}.${secretMember} ${wrong}: set ${variable}.`)
    return { id, kind, secret, settings: value }
  })
  const known = providers.map(({ id }) => secretVariable(id))
  const warnings = Object.keys(environment)
    .filter((name) => isSecretVariable(name) && !known.includes(name))
    .map((name) => `${name} is not used, because signInWith has no such provider.`)
  return { providers, problems, warnings }
}

const prefix = (expectation: string | null) => expectation && `is invalid (${expectation})`
