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
  | 'sign-in'
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
  | 'mail'

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

export const okRemark = (message: string): Remark => ({ level: 'ok', message })
export const warningRemark = (message: string, fix: string): Remark => ({
  level: 'warning',
  message,
  fix,
})

/** The options of the libraries that a setting is for, by path: `dpop.nonces`, `billing.mail`. */
export interface ForLibrary<Option extends string = string> {
  /** The option that gets the value as it is. If the value is `null`, the option is left out. */
  readonly option?: Option
  /** Options, functions and members that the service's code derives from the value. */
  readonly decides?: readonly string[]
}

/** Definition of a key of `tollgate.config.ts`. */
export interface SettingRow<Value, Input, Option extends string = string>
  extends Partial<Checked<Value>>,
    ForLibrary<Option> {
  /** Schema of the value in the configuration file, including its default. */
  readonly file: z.ZodType<Value, Input>
  /**
   * Schema of the environment variable that overrides the configuration file. `null` if there is
   * no such variable.
   */
  readonly text: z.ZodType<Value> | null
}

/**
 * Definition of an environment variable that is not a top-level key of the configuration file.
 */
export interface VariableRow<Value, Default>
  extends Partial<Checked<Value>>,
    Pick<ForLibrary, 'decides'> {
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

interface VariableOptions<Value> extends Partial<Checked<Value>>, Pick<ForLibrary, 'decides'> {
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
  more: Partial<Checked<NoInfer<Value>>> & Pick<ForLibrary, 'decides'> = {},
): VariableRow<Value, Value> {
  return { text, hint: null, overrides: null, ...more, fallback: { demo, production } }
}

/** The members of a row that helpers pass on: doctor's check, and the options of the libraries. */
type More<Value, Option extends string> = Partial<Checked<Value>> & ForLibrary<Option>

export function setting<Value, Input, const Option extends string = never>(
  file: z.ZodType<Value, Input>,
  options: { readonly text?: z.ZodType<Value> } & More<Value, Option> = {},
): SettingRow<Value, Input, Option> {
  return { text: null, ...options, file }
}

/** Defines a setting that is `null` unless it is given. The library then uses its own default. */
export const optional = <Value, Input, const Option extends string = never>(
  file: z.ZodType<Value, Input>,
  options: { readonly text?: z.ZodType<Value> } & More<Value | null, Option> = {},
): SettingRow<Value | null, Input | null | undefined, Option> => ({
  text: null,
  ...options,
  file: file.nullable().default(null) as z.ZodType<Value | null, Input | null | undefined>,
})

/** Defines a boolean setting: `true` or `false` in the file, `on` or `off` in the environment. */
export const flag = <const Option extends string = never>(
  fallback: boolean,
  more: More<boolean, Option> = {},
) => setting(z.boolean().default(fallback), { text: read.onOff, ...more })

/** Defines a setting that is `true`, `false` or another value such as `required`. */
export const flagOrValue = <Word extends string, const Option extends string = never>(
  word: Word,
  fallback: boolean,
  more: More<boolean | Word, Option> = {},
) =>
  setting(
    z
      .union([z.boolean(), z.literal(word)], { error: `expected true, false or '${word}'` })
      .default(fallback),
    { text: read.onOffOrValue(word), ...more },
  )

export const known = <Name extends string>(names: readonly Name[]): z.ZodType<Name, Name> =>
  z.enum(names, { error: `expected ${read.listOf(names)}` })

export const oneOf = <Name extends string, const Option extends string = never>(
  names: readonly Name[],
  fallback: NoInfer<Name>,
  more: More<NoInfer<Name>, Option> = {},
) => setting(known(names).default(fallback), { text: read.oneOf(names), ...more })

/** Like `oneOf`, but with the library's own default. */
export const optionalOneOf = <Name extends string, const Option extends string = never>(
  names: readonly Name[],
  more: More<NoInfer<Name> | null, Option> = {},
) => optional(known(names), { text: read.oneOf(names), ...more })

export const someOf = <Name extends string, const Option extends string = never>(
  names: readonly Name[],
  fallback: NoInfer<Name>[],
  more: More<readonly NoInfer<Name>[], Option> = {},
) => setting(list(known(names), fallback), { text: read.someOf(names), ...more })

/** Like `someOf`, but with the library's own default, and never empty. */
export const optionalSomeOf = <Name extends string, const Option extends string = never>(
  names: readonly Name[],
  more: More<readonly NoInfer<Name>[] | null, Option> = {},
) => {
  const file = z.array(known(names)).min(1, { error: 'expected at least one' }).readonly()
  return optional(file, { text: read.someOf(names), ...more })
}

/**
 * Defines a period with the library's own default. `use` passes it to the library, which rejects
 * invalid ones.
 */
export const period = <const Option extends string = never>(
  use: (value: string | number) => unknown,
  more: More<string | number | null, Option> = {},
) =>
  optional(read.period.superRefine(read.acceptedBy(use)), {
    text: read.periodText.superRefine(read.acceptedBy(use)),
    ...more,
  })

/** Defines a whole number in a range, with the library's own default. */
export const whole = <const Option extends string = never>(
  [from, to]: readonly [number, number],
  more: More<number | null, Option> = {},
) => {
  const error = `expected a whole number from ${from} to ${to}`
  return optional(z.number({ error }).int({ error }).min(from, { error }).max(to, { error }), {
    text: read.wholeNumberInRange(from, to),
    ...more,
  })
}

/** Defines a list of names, with the library's own default. */
export const names = <const Option extends string = never>(
  more: More<readonly string[] | null, Option> = {},
) => optional(z.array(z.string().min(1)).readonly(), { text: read.names, ...more })

export const list = <Value, Input>(value: z.ZodType<Value, Input>, fallback: Value[] = []) =>
  z.array(value).readonly().default(fallback)

export const recordOf = <Value>(value: z.ZodType<Value>) =>
  z.record(z.string(), value).readonly().nullable().default(null)

export const callable = <Call>() =>
  z.custom<Call>((value) => typeof value === 'function', { message: 'expected a function' })
