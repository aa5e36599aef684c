import { BadRequest } from './errors.ts'

/**
 * Parses the XML that Braintree's SDKs for Python, Ruby, Java, PHP and .NET send, into the
 * equivalent JSON. Only the XML that these SDKs write is accepted: one root, elements, the
 * attributes `type` and `nil`, text, the five named entities and numeric ones. DTDs, CDATA,
 * comments and processing instructions are rejected, so that nothing can be expanded or fetched.
 */
export function parseXml(body: Uint8Array): Record<string, unknown> {
  const reader = new Reader(decodeUtf8(body))
  reader.skip(DECLARATION)
  reader.skip(SPACE)
  const { name, value } = readElement(reader, 0)
  reader.skip(SPACE)
  if (!reader.atEnd) throw new BadRequest('There is more than one root')
  return Object.fromEntries([[name, value]])
}

const MAX_DEPTH = 20
const DECLARATION = /<\?xml\s[^<>?]*\?>/y
const SPACE = /[ \t\r\n]+/y
const OPENING =
  /<([A-Za-z_][\w.-]*)((?:\s+[A-Za-z_][\w.-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y
const CLOSING = /<\/([A-Za-z_][\w.-]*)\s*>/y
const TEXT = /[^<]+/y
const ATTRIBUTE = /([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 has no way to say these
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  /**
   * Matches a pattern at the current position of the XML and moves past the match. Returns `null`
   * if it does not match.
   */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match) this.#at = pattern.lastIndex
    return match
  }

  skip(pattern: RegExp): void {
    this.take(pattern)
  }
}

interface Element {
  /** Name of the element in snake_case. */
  readonly name: string
  readonly value: unknown
}

function readElement(reader: Reader, depth: number): Element {
  if (depth > MAX_DEPTH) throw new BadRequest('The body is nested too deep')
  const opening = reader.take(OPENING)
  if (!opening) throw new BadRequest('An element was expected')
  const [, tag = '', attributeText = '', isEmpty] = opening
  const attributes = readAttributes(attributeText)
  const name = withUnderscores(tag)
  if (isEmpty) return { name, value: elementValue(attributes, [], '') }
  const children: Element[] = []
  let text = ''
  for (;;) {
    text += decodeText(reader.take(TEXT)?.[0] ?? '')
    const closing = reader.take(CLOSING)
    if (closing) {
      if (closing[1] !== tag) throw new BadRequest(`<${tag}> is not closed`)
      return { name, value: elementValue(attributes, children, text) }
    }
    children.push(readElement(reader, depth + 1))
  }
}

/**
 * Converts a tag to snake_case: the SDK for Ruby sends `plan-id`, the one for Java `planId` and
 * `threeDSecurePassThru`.
 */
function withUnderscores(tag: string): string {
  return tag
    .replaceAll('-', '_')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1_$2')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
}

type Attributes = ReadonlyMap<string, string>

function readAttributes(text: string): Attributes {
  const attributes = new Map<string, string>()
  for (const [, name = '', double, single] of text.matchAll(ATTRIBUTE)) {
    if (attributes.has(name)) throw new BadRequest(`${name} is there twice`)
    attributes.set(name, decodeText(double ?? single ?? ''))
  }
  return attributes
}

/**
 * Converts an element to a value, like Rails: its attribute `type` decides, otherwise whether it
 * has child elements.
 */
function elementValue(attributes: Attributes, children: readonly Element[], text: string): unknown {
  const type = attributes.get('type')
  const isBlank = text.trim() === ''
  if (!isBlank && (children.length > 0 || type === 'array')) {
    throw new BadRequest('Text stands between elements')
  }
  if (attributes.get('nil') === 'true') return null
  if (type === 'array') return children.map(({ value }) => value)
  if (children.length > 0) return toRailsObject(children)
  if (type === 'string') return text
  // Some SDKs write an empty element for null and for an object without fields.
  if (isBlank) return null
  if (type === 'boolean') return ['true', '1'].includes(text.trim())
  if (type === 'integer' && /^\s*-?\d{1,15}\s*$/.test(text)) return Number(text)
  return text
}

/**
 * Converts child elements to an object. A name that occurs more than once becomes a list, as in
 * Rails.
 */
function toRailsObject(children: readonly Element[]): Record<string, unknown> {
  const lists = new Map<string, unknown[]>()
  for (const { name, value } of children) {
    const list = lists.get(name)
    if (list) list.push(value)
    else lists.set(name, [value])
  }
  const fields = [...lists].map(([name, list]) => [name, list.length === 1 ? list[0] : list])
  return Object.fromEntries(fields)
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
}

function decodeText(text: string): string {
  if (ILLEGAL.test(text)) throw new BadRequest('A character that XML does not have')
  if (!text.includes('&')) return text
  return text.replace(/&([^&;]{1,10};)?/g, (_, entity: string | undefined) => decodeEntity(entity))
}

function decodeEntity(entity: string | undefined): string {
  const name = entity?.slice(0, -1) ?? ''
  if (Object.hasOwn(ENTITIES, name)) return ENTITIES[name] ?? ''
  const digits = /^#(?:([0-9]+)|x([0-9A-Fa-f]+))$/.exec(name)
  const code = digits?.[1] ? Number(digits[1]) : Number.parseInt(digits?.[2] ?? '', 16)
  const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  const character = isCharacter ? String.fromCodePoint(code) : ''
  if (character === '' || ILLEGAL.test(character)) throw new BadRequest(`No entity ${name}`)
  return character
}

function decodeUtf8(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new BadRequest('The body is not UTF-8', { cause })
  }
}
