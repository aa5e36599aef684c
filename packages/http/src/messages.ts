/**
 * The texts of one language by id. A text is an ICU message limited to two forms: `{name}` and
 * `{count, plural, =0 {none} one {# day} other {# days}}`. A branch of a plural must not be a
 * single word without `#`.
 */
export type Messages = Readonly<Record<string, string>>

/** The names in braces in a message. Text after a brace that cannot be a name is left out. */
export type PlaceholderNames<Text extends string> = Text extends `${string}{${infer Rest}`
  ?
      | (Rest extends `${infer Name},${string}}${string}` | `${infer Name}}${string}`
          ? Name extends '' | `${string}${' ' | '#' | '{' | '}' | ','}${string}`
            ? never
            : Name
          : never)
      | PlaceholderNames<Rest>
  : never

/**
 * The arguments that a message takes after its id: none, or an object with a value for each name.
 */
export type MessageValues<Text extends string, Value> = [PlaceholderNames<Text>] extends [never]
  ? []
  : [values: Readonly<Record<PlaceholderNames<Text>, Value>>]

/** Formats the messages of one language. */
export interface Translate<All extends Messages> {
  /** Returns a message as text. */
  <Id extends keyof All & string>(
    id: Id,
    ...values: MessageValues<All[Id], string | number>
  ): string
  /** Returns a message in parts, so that values can be markup. */
  parts<
    Id extends keyof All & string,
    Values extends Readonly<Record<PlaceholderNames<All[Id]>, unknown>>,
  >(id: Id, values: Values): (string | Values[keyof Values])[]
  /** The language, for `<html lang>`. */
  readonly language: string
  /** The locale for numbers, dates and amounts of money. */
  readonly locale: string
}

/**
 * Creates a function that formats the messages of one language.
 * @example
 * ```ts
 * const en = { left: '{days, plural, one {# day} other {# days}} left' } as const
 * const t = translate<typeof en>(en, 'en')
 * t('left', { days: 3 }) // '3 days left'
 * ```
 */
export function translate<All extends Messages>(
  messages: Readonly<Record<keyof All, string>>,
  language: string,
  locale = language,
): Translate<All> {
  const partsOf = (id: keyof All & string, values: Readonly<Record<string, unknown>> = {}) =>
    formatMessage(messages[id], values, locale)
  return Object.assign(
    (id: keyof All & string, values?: Readonly<Record<string, unknown>>) =>
      partsOf(id, values).join(''),
    { parts: partsOf, language, locale },
  ) as Translate<All>
}

/**
 * Fills in a message. Values are never interpreted as messages, and names without a value stay
 * unchanged. Numbers are formatted for the locale.
 */
export function formatMessage<Value>(
  message: string,
  values: Readonly<Record<string, Value>>,
  locale: string,
): (string | Value)[] {
  const parts: (string | Value)[] = []
  let rest = 0
  for (const { start, end } of findPlaceholders(message)) {
    parts.push(message.slice(rest, start))
    rest = end
    parts.push(...formatPlaceholder(message.slice(start, end), values, locale))
  }
  parts.push(message.slice(rest))
  return parts.filter((part) => part !== '')
}

function formatPlaceholder<Value>(
  place: string,
  values: Readonly<Record<string, Value>>,
  locale: string,
): (string | Value)[] {
  const [, name = '', branches] = /^\{(\w+)(?:,\s*plural,(.*))?\}$/s.exec(place) ?? []
  const value = Object.hasOwn(values, name) ? values[name] : undefined
  if (value === undefined) return [place]
  if (typeof value !== 'number') return [value]
  const shown = new Intl.NumberFormat(locale).format(value)
  if (branches === undefined) return [shown]
  return formatMessage(
    choosePluralBranch(value, branches, locale).replaceAll('#', shown),
    values,
    locale,
  )
}

function choosePluralBranch(count: number, branches: string, locale: string): string {
  const found = new Map<string, string>()
  let rest = 0
  for (const { start, end } of findPlaceholders(branches)) {
    found.set(branches.slice(rest, start).trim(), branches.slice(start + 1, end - 1))
    rest = end
  }
  const category = new Intl.PluralRules(locale).select(count)
  return found.get(`=${count}`) ?? found.get(category) ?? found.get('other') ?? ''
}

/** Finds the outermost pairs of braces. */
function* findPlaceholders(
  text: string,
): Iterable<{ readonly start: number; readonly end: number }> {
  let depth = 0
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') {
      if (depth === 0) start = at
      depth += 1
    } else if (text[at] === '}' && depth > 0) {
      depth -= 1
      if (depth === 0) yield { start, end: at + 1 }
    }
  }
}

/**
 * Longest accepted text, in characters. Clients control headers and parameters, so the cost of
 * parsing them must be limited.
 */
const LONGEST_LIST = 1000

/**
 * Parses an `Accept-Language` header or `ui_locales`. Returns the languages in order of preference.
 * Malformed parts are skipped, and a text of more than 1000 characters counts as empty.
 */
export function readLanguages(text: string | null | undefined): string[] {
  if (!text || text.length > LONGEST_LIST) return []
  return text
    .replace(/\s*;\s*/g, ';')
    .split(/[\s,]+/)
    .flatMap((part) => {
      const [, tag, weight = '1'] =
        /^([a-z]{2,8}(?:-[a-z\d]{1,8})*)(?:;q=([01](?:\.\d{0,3})?))?$/i.exec(part) ?? []
      return tag !== undefined && Number(weight) > 0 ? [{ tag, weight: Number(weight) }] : []
    })
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag)
}

/**
 * Chooses the language of a page: the first of the `preferredLanguages` that is available, either
 * under the same name or as its base language (`de` for `de-AT`). Returns `fallback` if none is
 * available.
 * @example
 * ```ts
 * chooseLanguage(readLanguages('de-AT, en;q=0.5'), ['en', 'de'], 'en') // 'de'
 * ```
 */
export function chooseLanguage(
  preferredLanguages: readonly string[],
  available: readonly string[],
  fallback: string,
): string {
  for (const tag of preferredLanguages.map((each) => each.toLowerCase())) {
    const found =
      available.find((name) => name.toLowerCase() === tag) ??
      available.find((name) => name.toLowerCase() === tag.split('-')[0])
    if (found !== undefined) return found
  }
  return fallback
}

/** Whether the locale's script runs from right to left, as Arabic and Hebrew do. */
export function isRightToLeft(locale: string): boolean {
  return RIGHT_TO_LEFT.has(new Intl.Locale(locale).maximize().script ?? '')
}

const RIGHT_TO_LEFT = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo', 'Adlm'])
