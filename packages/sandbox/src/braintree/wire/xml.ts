/**
 * Braintree's XML, as Rails writes it: integers, booleans, dates and arrays have a `type`
 * attribute, null has `nil`, everything else is text. The writer is one recursive function, because
 * a general XML builder needs nine times the CPU, which is noticeable in a year of notifications.
 */

/** A list of XML elements with the same name, which the SDK reads as an array. */
export class XmlList {
  readonly itemName: string
  readonly items: readonly XmlValue[]
  constructor(itemName: string, items: readonly XmlValue[]) {
    this.itemName = itemName
    this.items = items
  }
}

/** A page of search results in XML: paging fields, then one element for each record. */
export class XmlCollection {
  readonly fields: XmlObject
  readonly list: XmlList
  constructor(fields: XmlObject, list: XmlList) {
    this.fields = fields
    this.list = list
  }
}

/** A calendar day in XML. It differs from text only by its attribute `type`. */
export class XmlDay {
  readonly day: string
  constructor(day: string) {
    this.day = day
  }
}

/**
 * Text in XML with the attribute `type="symbol"`, as Braintree writes the attribute names of
 * errors.
 */
export class XmlSymbol {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

export interface XmlObject {
  readonly [snakeCaseName: string]: XmlValue
}

export type XmlValue =
  | string
  | number
  | boolean
  | null
  | Date
  | XmlDay
  | XmlSymbol
  | XmlList
  | XmlCollection
  | XmlObject

/**
 * Returns a copy of an object with snake_case field names, as in Braintree's XML: `eciFlag` becomes
 * `eci_flag`.
 */
export function toSnakeCaseKeys(fields: object): XmlObject {
  const named = Object.entries(fields).map(([name, value]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ])
  return Object.fromEntries(named)
}

/** Renders an XML document with the root element `name`. */
export function renderXmlDocument(name: string, value: XmlValue): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${renderElement(name, value)}\n`
}

export function renderElement(name: string, value: XmlValue): string {
  const tag = toTagName(name)
  if (typeof value === 'string') return `<${tag}>${escapeXml(value)}</${tag}>`
  if (value === null) return `<${tag} nil="true"/>`
  if (typeof value === 'number') return `<${tag} type="integer">${value}</${tag}>`
  if (typeof value === 'boolean') return `<${tag} type="boolean">${value}</${tag}>`
  if (value instanceof Date) return `<${tag} type="datetime">${formatIsoSecond(value)}</${tag}>`
  if (value instanceof XmlDay) return `<${tag} type="date">${value.day}</${tag}>`
  if (value instanceof XmlSymbol) return `<${tag} type="symbol">${escapeXml(value.name)}</${tag}>`
  if (value instanceof XmlList) return `<${tag} type="array">${listItems(value)}</${tag}>`
  if (value instanceof XmlCollection) {
    return `<${tag} type="collection">${children(value.fields)}${listItems(value.list)}</${tag}>`
  }
  return `<${tag}>${children(value as XmlObject)}</${tag}>`
}

/** Formats a time as `2026-01-31T10:00:00Z`. Braintree has no fractions of a second. */
export function formatIsoSecond(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`
}

function children(value: XmlObject): string {
  let text = ''
  for (const name in value) {
    const child = value[name]
    if (child !== undefined) text += renderElement(name, child)
  }
  return text
}

function listItems(list: XmlList): string {
  let text = ''
  for (const item of list.items) text += renderElement(list.itemName, item)
  return text
}

const tags = new Map<string, string>()

function toTagName(name: string): string {
  let tag = tags.get(name)
  if (tag === undefined) {
    tag = name.replaceAll('_', '-')
    // Limits the cache, because names can come from a caller's custom fields.
    if (tags.size < 2000) tags.set(name, tag)
  }
  return tag
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 has no way to write
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above, with what needs an entity
const SUSPECT = /[&<>"\u0000-\u001f\ud800-\udfff\ufffe\uffff]/

function escapeXml(text: string): string {
  if (!SUSPECT.test(text)) return text
  const legal = text.replace(ILLEGAL, '').replace(/\p{Surrogate}/gu, '\ufffd')
  return legal.replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
}
