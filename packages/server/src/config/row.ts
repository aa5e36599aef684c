import { z } from 'zod'
import * as read from './values.ts'

/**
 * In a demo the service generates everything that is missing; in production it generates nothing.
 */
export type Mode = 'demo' | 'production'

/** The checks of `tollgate doctor`. Each finding names its check. */
export type CheckName =
  | 'configuration'
  | 'database'
  | 'replication'
  | 'clock'
  | 'keys'
  | 'secret'
  | 'registration'
  | 'outgoing'
  | 'grants'
  | 'requests'
  | 'clients'
  | 'openid'
  | 'tokens'
  | 'cors'
  | 'redirects'
  | 'mcp'
  | 'issuer'
  | 'proxies'
  | 'providers'
  | 'plans'
  | 'webhooks'
  | 'deliveries'

/** A statement about a value for operators: one line in the output of `tollgate doctor`. */
export interface Remark {
  /** Whether the operator should act. */
  readonly level: 'ok' | 'warning'
  /** The statement. */
  readonly message: string
  /** The action that removes a warning. */
  readonly fix?: string
}

/** How `tollgate doctor` checks a setting. */
export interface Checked<Value> {
  /** The check of `tollgate doctor` that reports on the setting. */
  readonly check: CheckName
  /**
   * Makes remarks on the value alone. Absent if the check needs a database, a provider or another
   * setting.
   */
  remarks?(value: Value): Remark | false | readonly (Remark | false)[]
}

export const note = (message: string): Remark => ({ level: 'ok', message })
export const caution = (message: string, fix: string): Remark => ({
  level: 'warning',
  message,
  fix,
})

/** Definition of a key of `tollgate.config.ts`. */
export interface SettingRow<Value, Input> extends Partial<Checked<Value>> {
  /** Parses the value in the file, and holds the default. */
  readonly file: z.ZodType<Value, Input>
  /** Parses the environment variable that overrides the file. `null` if the setting has none. */
  readonly text: z.ZodType<Value> | null
}

/** Definition of an environment variable that is not a top-level key of the file. */
export interface VariableRow<Value, Default> extends Partial<Checked<Value>> {
  /** Parses the text of the variable. */
  readonly text: z.ZodType<Value, string>
  /** Value if the variable is not set. `null` if there is no default. */
  readonly fallback: Readonly<Record<Mode, Default>>
  /** How to set it, shown in the message that it is missing. `null` if it is optional. */
  readonly hint: string | null
  /**
   * The member of a setting that it overrides, such as `selfRegistered.policy`. `null` if it
   * overrides none.
   */
  readonly overrides: string | null
}

interface VariableOptions<Value> extends Partial<Checked<Value>> {
  readonly hint?: string
  readonly overrides?: string
}

export function variable<Value>(
  text: z.ZodType<Value, string>,
  options: VariableOptions<Value> = {},
): VariableRow<Value, null> {
  return {
    text,
    hint: null,
    overrides: null,
    ...options,
    fallback: { demo: null, production: null },
  }
}

export function defaulted<Value>(
  text: z.ZodType<Value, string>,
  [demo, production = demo]: readonly [NoInfer<Value>, NoInfer<Value>?],
  checked: Partial<Checked<NoInfer<Value>>> = {},
): VariableRow<Value, Value> {
  return { text, hint: null, overrides: null, ...checked, fallback: { demo, production } }
}

export function setting<Value, Input>(
  file: z.ZodType<Value, Input>,
  options: { readonly text?: z.ZodType<Value> } & Partial<Checked<Value>> = {},
): SettingRow<Value, Input> {
  return { text: null, ...options, file }
}

/** Defines a switch: `true` or `false` in the file, `on` or `off` in the environment. */
export const flag = (fallback: boolean, checked: Partial<Checked<boolean>> = {}) =>
  setting(z.boolean().default(fallback), { text: read.onOff, ...checked })

/** Defines a switch with a third value, such as `required`. */
export const flagOr = <More extends string>(
  more: More,
  fallback: boolean,
  checked: Partial<Checked<boolean | More>> = {},
) =>
  setting(
    z
      .union([z.boolean(), z.literal(more)], { error: `expected true, false or '${more}'` })
      .default(fallback),
    { text: read.onOffOr(more), ...checked },
  )

export const known = <Name extends string>(names: readonly Name[]): z.ZodType<Name, Name> =>
  z.enum(names, { error: `expected ${read.listOf(names)}` })

export const oneOf = <Name extends string>(
  names: readonly Name[],
  fallback: NoInfer<Name>,
  checked: Partial<Checked<NoInfer<Name>>> = {},
) => setting(known(names).default(fallback), { text: read.oneOf(names), ...checked })

export const someOf = <Name extends string>(
  names: readonly Name[],
  fallback: NoInfer<Name>[],
  checked: Partial<Checked<readonly NoInfer<Name>[]>> = {},
) => setting(list(known(names), fallback), { text: read.someOf(names), ...checked })

export const list = <Value, Input>(value: z.ZodType<Value, Input>, fallback: Value[] = []) =>
  z.array(value).readonly().default(fallback)

export const recordOf = <Value>(value: z.ZodType<Value>) =>
  z.record(z.string(), value).readonly().nullable().default(null)

export const callable = <Call>() =>
  z.custom<Call>((value) => typeof value === 'function', { message: 'expected a function' })
