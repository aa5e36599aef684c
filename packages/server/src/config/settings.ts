import type { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'
import type { plan } from './plans.ts'
import type { SettingRow } from './row.ts'
import type * as shapes from './shapes.ts'
import { configTable } from './table.ts'

/** The settings of `tollgate.config.ts`, with defaults filled in. */
export type Settings = {
  readonly [Name in keyof typeof configTable as (typeof configTable)[Name] extends {
    readonly file: z.ZodType
  }
    ? Name
    : never]: (typeof configTable)[Name] extends { readonly file: infer File extends z.ZodType }
    ? z.output<File>
    : never
}
/** The contents of a `tollgate.config.ts`. Every key is optional. */
export type SettingsInput = {
  readonly [Name in keyof typeof configTable as (typeof configTable)[Name] extends {
    readonly file: z.ZodType
  }
    ? Name
    : never]?: (typeof configTable)[Name] extends { readonly file: infer File extends z.ZodType }
    ? z.input<File>
    : never
}
export type { Plan } from './plans.ts'
/** A plan in a `tollgate.config.ts`. Members with a default are optional. */
export type PlanInput = Readonly<z.input<typeof plan>>
/** Settings for clients that register themselves. */
export type SelfRegisteredSettings = Readonly<z.output<typeof shapes.selfRegisteredShape>>
/** Settings for outgoing requests to client-supplied URLs. */
export type OutgoingSettings = Readonly<z.output<typeof shapes.outgoingShape>>
/** Settings for the endpoints of your application that receive billing events. */
export type DeliverySettings = Readonly<z.output<typeof shapes.deliveriesShape>>

/**
 * Gives editors the types of a `tollgate.config.ts`. Returns its argument unchanged.
 * @example
 * export default defineConfig({ name: 'Acme', registration: false, accessTokensExpireIn: '1h' })
 */
export function defineConfig(settings: SettingsInput): SettingsInput {
  return settings
}

/** Definitions of the settings in `tollgate.config.ts`, by name. */
export const settingRows: ReadonlyMap<string, SettingRow<unknown, unknown>> = new Map(
  Object.entries(configTable).flatMap(([name, row]) =>
    'file' in row ? [[name, row] as const] : [],
  ),
)

/**
 * Parses settings and fills in the defaults.
 * @throws TypeError that names every mistake and its place.
 */
export function parseSettings(input: unknown, source = 'tollgate.config.ts'): Settings {
  const { settings, problems } = readSettings(input)
  if (problems.length === 0) return settings
  throw new TypeError(`${source} is invalid:\n${problems.map((line) => `  ${line}`).join('\n')}`)
}

/**
 * Parses the contents of `tollgate.config.ts`. Uses the default for each invalid value, and returns
 * one sentence per mistake.
 */
export function readSettings(input: unknown): {
  readonly settings: Settings
  readonly problems: readonly string[]
} {
  const isObject = typeof (input ?? {}) === 'object' && !Array.isArray(input)
  const problems = isObject
    ? []
    : ['(the file): expected an object of settings, as for defineConfig()']
  const given: Record<string, unknown> = isObject ? { ...(input as object) } : {}
  for (const name of Object.keys(given)) {
    if (!settingRows.has(name)) problems.push(unknownKey([], name))
  }
  const settings: Record<string, unknown> = {}
  for (const [name, { file }] of settingRows) {
    const parsed = file.safeParse(given[name])
    settings[name] = parsed.success ? parsed.data : file.parse(undefined)
    for (const issue of parsed.error?.issues ?? []) problems.push(...explain(name, issue))
  }
  return { settings: settings as Settings, problems }
}

function explain(name: string, issue: z.core.$ZodIssue): string[] {
  const path = [name, ...issue.path]
  return issue.code === 'unrecognized_keys'
    ? issue.keys.map((key) => unknownKey(path, key))
    : [`${path.join('.')}: ${issue.message}`]
}

function unknownKey(path: readonly PropertyKey[], key: string): string {
  const [setting, ...within] = path
  const row = settingRows.get(String(setting))
  const known = setting === undefined ? [...settingRows.keys()] : membersAt(row?.file, within)
  return `${[...path, key].join('.')}: there is no such setting.${didYouMean(key, known)}`
}

interface Definition {
  readonly innerType?: z.ZodType
  readonly in?: z.ZodType
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly shape?: Readonly<Record<string, z.ZodType>>
}

/** Lists the members of the object at a path of a schema. */
function membersAt(schema: z.ZodType | undefined, path: readonly PropertyKey[]): string[] {
  if (!schema) return []
  const { innerType, in: before, element, options, shape } = schema.def as Definition
  const wrapped = innerType ?? before
  if (wrapped) return membersAt(wrapped, path)
  if (options) return options.flatMap((option) => membersAt(option, path))
  const [first, ...rest] = path
  if (element) return membersAt(element, rest)
  if (first === undefined) return Object.keys(shape ?? {})
  return membersAt(shape?.[String(first)], rest)
}
