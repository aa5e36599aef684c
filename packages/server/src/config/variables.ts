import type { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import type { Mode, VariableRow } from './row.ts'
import { type Settings, settingRows } from './settings.ts'
import { isSecretVariable } from './sign-in-with.ts'
import { configTable } from './table.ts'

type Table = typeof configTable
export type VariableName = {
  [Name in keyof Table]: Table[Name] extends VariableRow<infer _, infer __> ? Name : never
}[keyof Table]
export type Variables = {
  readonly [Name in VariableName]: Table[Name] extends VariableRow<infer Value, infer Default>
    ? Value | Default
    : never
}

/**
 * The environment variables that each payment provider requires. If any of them is set, the service
 * runs in production mode.
 */
export const providerKeys: readonly (readonly VariableName[])[] = [
  ['STRIPE_SECRET', 'STRIPE_WEBHOOK_SECRET'],
  [
    'BRAINTREE_ENVIRONMENT',
    'BRAINTREE_MERCHANT_ID',
    'BRAINTREE_PUBLIC_KEY',
    'BRAINTREE_PRIVATE_KEY',
  ],
]

/** Definitions of the environment variables that are not keys of the configuration file, by name. */
export const variableRows: ReadonlyMap<string, VariableRow<unknown, unknown>> = new Map(
  Object.entries(configTable).flatMap(([name, row]) =>
    'file' in row ? [] : [[name, row] as const],
  ),
)

/** Name of the variable that overrides a setting: `TOLLGATE_PASSWORD_GRANT` for `passwordGrant`. */
export const variableOf = (setting: string) =>
  `TOLLGATE_${setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`

const overriding = [...settingRows].flatMap(([setting, { text }]) =>
  text === null ? [] : [{ setting, name: variableOf(setting), text }],
)

/** Every environment variable that the service reads, with its schema. */
export const variables: ReadonlyMap<string, z.ZodType> = new Map(
  [...variableRows]
    .map(([name, { text }]): [string, z.ZodType] => [name, text])
    .concat(overriding.map(({ name, text }) => [name, text])),
)

/** Parses the environment variables. Error messages name the variable but never its value. */
export function parseVariables(environment: Readonly<Record<string, string | undefined>>): {
  readonly mode: Mode
  readonly values: Variables
  /** Settings that variables override. */
  readonly settings: Partial<Settings>
  readonly problems: readonly string[]
  /** Names of all variables that are set, including invalid ones. */
  readonly given: ReadonlySet<string>
  readonly warnings: readonly string[]
} {
  const given = [...variables.keys()].filter((name) => environment[name])
  const parsed = new Map<string, unknown>()
  const problems: string[] = []
  for (const name of given) {
    const result = variables.get(name)?.safeParse(environment[name])
    if (result?.success) parsed.set(name, result.data)
    else problems.push(`${name} ${result?.error.issues[0]?.message ?? 'cannot be read'}`)
  }
  const isProduction =
    parsed.get('NODE_ENV') === 'production' || providerKeys.flat().some((name) => parsed.has(name))
  const mode = isProduction ? 'production' : 'demo'
  const unknown = Object.keys(environment).filter(
    (name) => !variables.has(name) && !isSecretVariable(name),
  )
  return {
    mode,
    values: Object.fromEntries(
      [...variableRows].map(([name, { fallback }]) => [name, parsed.get(name) ?? fallback[mode]]),
    ) as Variables,
    settings: Object.fromEntries(
      overriding
        .filter(({ name }) => parsed.has(name))
        .map(({ setting, name }) => [setting, parsed.get(name)]),
    ),
    problems,
    given: new Set(given),
    warnings: unknown.flatMap((name) => {
      const near = didYouMean(name, [...variables.keys()])
      // Other programs have variables of the providers too.
      const isOurs = name.startsWith('TOLLGATE_') || (near && /^(STRIPE|BRAINTREE)_/.test(name))
      return isOurs ? [`${name} is not a setting of Tollgate.${near || ' Is it misspelt?'}`] : []
    }),
  }
}
