import type { z } from 'zod'
import type { Settings } from './settings.ts'
import { settingRows } from './settings.ts'
import type { configTable } from './table.ts'

type Rows = typeof configTable

/** `{ a: { b: Value } }` for the path `a.b`. */
type Nested<Path extends string, Value> = Path extends `${infer Head}.${infer Rest}`
  ? { readonly [Name in Head]?: Nested<Rest, Value> }
  : { readonly [Name in Path]?: Value }

/** The part of an object of options that one row sets. */
type Part<Row, Owner extends string> = Row extends {
  readonly file: infer File extends z.ZodType
  readonly option?: infer Option
}
  ? NonNullable<Option> extends `${Owner}.${infer Path}`
    ? [NonNullable<Option>] extends [never]
      ? never
      : Nested<Path, NonNullable<z.output<File>>>
    : never
  : never

type Together<Parts> = (Parts extends unknown ? (part: Parts) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

/** The options of a library function that the settings give: `dpop`, or `oauth` and `billing`. */
export type OptionsOf<Owner extends string> = Together<
  { [Name in keyof Rows]: Part<Rows[Name], Owner> }[keyof Rows]
>

/**
 * Returns the options of a library function as the settings give them: the rows of the table whose
 * `option` begins with its name. `oauth` stands for `createAuthorizationServer()`, `billing` for
 * `createBilling()`. Settings that are `null` are left out.
 */
export function optionsOf<const Owner extends string>(
  owner: Owner,
  settings: Settings,
): OptionsOf<Owner> {
  const options: Record<string, unknown> = {}
  for (const [name, { option }] of settingRows) {
    const [first, ...path] = option?.split('.') ?? []
    const value = settings[name as keyof Settings]
    if (first === owner && value !== null) assign(options, path, value)
  }
  return options as OptionsOf<Owner>
}

function assign(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) {
    target[name] = value
    return
  }
  const inner = { ...(target[name] as Record<string, unknown> | undefined) }
  assign(inner, rest, value)
  target[name] = inner
}
