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

/** A remark about a configured value: one line in the output of `tollgate doctor`. */
export interface Remark {
  /** Severity: `warning` if the operator should act. */
  readonly level: 'ok' | 'warning'
  /** Text of the remark. */
  readonly message: string
  /** How to resolve a warning. */
  readonly fix?: string
}

/** How `tollgate doctor` checks a setting. */
export interface Checked<Value> {
  /** The check of `tollgate doctor` that reports on the setting. */
  readonly check: CheckName
  /**
   * Returns remarks about the value. Missing if they would depend on a database, a provider or
   * another setting.
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
  /** Schema of the value in the file, including its default. */
  readonly file: z.ZodType<Value, Input>
  /**
   * Schema of the environment variable that overrides the file. `null` if there is no such
   * variable.
   */
  readonly text: z.ZodType<Value> | null
}

/** Definition of an environment variable that is not a top-level key of the file. */
export interface VariableRow<Value, Default> extends Partial<Checked<Value>> {
  /** Schema of the variable's text. */
  readonly text: z.ZodType<Value, string>
  /** Value if the variable is not set. `null` if there is no default. */
  readonly fallback: Readonly<Record<Mode, Default>>
  /**
   * How to set the variable, shown in the error if it is missing. `null` if the variable is
   * optional.
   */
  readonly hint: string | null
  /**
   * The member of a setting that the variable overrides, such as `selfRegistered.policy`. `null` if
   * it overrides none.
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

/** Defines a boolean setting: `true` or `false` in the file, `on` or `off` in the environment. */
export const flag = (fallback: boolean, checked: Partial<Checked<boolean>> = {}) =>
  setting(z.boolean().default(fallback), { text: read.onOff, ...checked })

/** Defines a setting that is `true`, `false` or another value such as `required`. */
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
