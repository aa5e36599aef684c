import { NODES } from '../wire/contract.generated.ts'
import {
  createInvalidRequestFault,
  createMissingParamFault,
  createUnknownParamsFault,
} from '../wire/errors.ts'
import { type FormObject, type FormValue, isForm } from '../wire/form.ts'

/**
 * Type of a parameter in the contract that is generated from the SDK. A number refers to an entry
 * of `NODES`.
 */
export type SchemaNode =
  | 's'
  | 'n'
  | 'b'
  | 'd'
  | { readonly o: Readonly<Record<string, Ref>>; readonly r?: readonly string[] }
  | { readonly e: readonly string[] }
  | { readonly u: readonly Ref[] }
  | { readonly a: Ref }
  | { readonly m: Ref }
  | { readonly z: Ref }
type Ref = number | SchemaNode

/** Numeric parameters that accept fractions. All others are integers. */
const FRACTIONS = new Set([
  'percentage',
  'percent_off',
  'application_fee_percent',
  'amount_percent',
  'fee_percent',
])

/**
 * Spellings of booleans that SDKs send: stripe-python up to version 11 and older .NET SDKs send
 * `True`.
 */
const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['True', true],
  ['1', true],
  ['false', false],
  ['False', false],
  ['0', false],
])

/**
 * Names of timestamp parameters. A value beyond the calendar's range was most likely given in
 * milliseconds.
 */
const TIMESTAMP_NAMES = /(?:_at|_by|_date|_end|_time|_anchor)$|^(?:start|end)$/
const MAX_TIMESTAMP = 253_402_300_799

/**
 * Parses a form body into nested objects: `a[b][0]=c` is the entry `0` of `b` in `a`. Arrays are
 * objects with their indexes as keys until their type is known.
 */
export function parseForm(text: string): FormObject {
  const form: FormObject = Object.create(null) as FormObject
  if (text === '') return form
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const at = pair.indexOf('=')
    const name = decode(at < 0 ? pair : pair.slice(0, at))
    assign(form, keysOf(name), at < 0 ? '' : decode(pair.slice(at + 1)), name)
  }
  return form
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw createInvalidRequestFault('Invalid request: the parameters are not valid URL encoding.')
  }
}

function keysOf(name: string): string[] {
  const open = name.indexOf('[')
  if (open < 0) return [name]
  const keys = [name.slice(0, open)]
  const pattern = /\[([^[\]]*)\]/g
  let end = open
  for (const match of name.slice(open).matchAll(pattern)) {
    keys.push(match[1] ?? '')
    end += match[0].length
  }
  if (end !== name.length || keys[0] === '')
    throw createInvalidRequestFault(`Invalid hash: ${name}`, name)
  return keys
}

function assign(form: FormObject, keys: readonly string[], value: string, name: string): void {
  let target = form
  keys.forEach((key, depth) => {
    const slot = key === '' ? indexFor(target, keys.slice(depth + 1)) : key
    if (depth === keys.length - 1) {
      if (typeof target[slot] === 'object')
        throw createInvalidRequestFault(`Invalid hash: ${name}`, name)
      target[slot] = value
      return
    }
    const next = target[slot]
    if (typeof next === 'string') throw createInvalidRequestFault(`Invalid hash: ${name}`, name)
    if (next === undefined) target[slot] = Object.create(null) as FormObject
    target = target[slot] as FormObject
  })
}

/**
 * Resolves `[]` to an index: the last element while it lacks the field, otherwise the next index.
 */
function indexFor(list: FormObject, field: readonly string[]): string {
  const size = Object.keys(list).length
  const last = list[String(size - 1)]
  return isForm(last) && field.length > 0 && !hasField(last, field) ? `${size - 1}` : `${size}`
}

function hasField(form: FormObject, [key = '', ...rest]: readonly string[]): boolean {
  const value = form[key]
  return isForm(value) && rest.length > 0 ? hasField(value, rest) : value !== undefined
}

/**
 * Validates the parameters in a form against their type in the generated contract, and converts the
 * values.
 * @throws {StripeFault} With Stripe's error for unknown, missing or invalid parameters.
 */
export function readParameters(
  node: number | SchemaNode,
  form: FormObject,
): Record<string, unknown> {
  const unknown: string[] = []
  const params = readObject(resolve(node), form, '', unknown)
  if (unknown.length > 0) throw createUnknownParamsFault(unknown)
  return params
}

/** Returns a parameter type with the parameters of list pagination added. */
export function withPaging(node: number | SchemaNode): SchemaNode {
  const type = resolve(node)
  if (typeof type === 'string' || !('o' in type)) throw new TypeError('Not an object type')
  return { ...type, o: { ...type.o, limit: 'n', starting_after: 's', ending_before: 's' } }
}

function resolve(ref: Ref): SchemaNode {
  return typeof ref === 'number' ? (NODES[ref] as SchemaNode) : ref
}

function readObject(
  node: SchemaNode,
  form: FormObject,
  prefix: string,
  unknown: string[],
): Record<string, unknown> {
  if (typeof node === 'string' || !('o' in node)) throw new TypeError('Not an object type')
  const params: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(form)) {
    const path = prefix === '' ? key : `${prefix}[${key}]`
    const type = Object.hasOwn(node.o, key) ? node.o[key] : undefined
    if (type === undefined) unknown.push(path)
    else params[key] = readValue(resolve(type), value, path, unknown)
  }
  if (unknown.length > 0) return params
  for (const key of node.r ?? []) {
    if (params[key] === undefined)
      throw createMissingParamFault(prefix === '' ? key : `${prefix}[${key}]`)
  }
  return params
}

function readValue(node: SchemaNode, value: FormValue, path: string, unknown: string[]): unknown {
  if (typeof node === 'string') return readSimple(node, value, path)
  if ('z' in node) return value === '' ? '' : readValue(resolve(node.z), value, path, unknown)
  if ('u' in node) return readUnion(node.u, value, path, unknown)
  if ('e' in node) return readEnum(node.e, value, path)
  if ('a' in node) return readArray(node.a, value, path, unknown)
  if (typeof value === 'string') {
    if (value === '' && 'm' in node) return ''
    throw createInvalidRequestFault('Invalid object', path)
  }
  if ('m' in node) {
    const member = resolve(node.m)
    const entries = Object.entries(value).map(([key, item]) => {
      // Currency options map to objects. Metadata maps to strings, although the SDK's types also
      // accept numbers.
      if (typeof member === 'object' && 'o' in member) {
        return [key, readValue(member, item, `${path}[${key}]`, unknown)]
      }
      if (typeof item !== 'string')
        throw createInvalidRequestFault(`Invalid ${path} value`, `${path}[${key}]`)
      return [key, item]
    })
    return Object.fromEntries(entries)
  }
  return readObject(node, value, path, unknown)
}

function readSimple(type: 's' | 'n' | 'b' | 'd', value: FormValue, path: string): unknown {
  if (typeof value !== 'string') {
    const names = { s: 'string', n: 'integer', b: 'boolean', d: 'decimal' }
    throw createInvalidRequestFault(`Invalid ${names[type]}: ${JSON.stringify(value)}`, path)
  }
  if (value === '') {
    throw createInvalidRequestFault(
      `You passed an empty string for '${path}'. We assume empty values are an attempt to unset a parameter; however '${path}' cannot be unset. You should remove '${path}' from your request or supply a non-empty value.`,
      path,
      'parameter_invalid_empty',
    )
  }
  if (type === 's') {
    if (value.length > 5000)
      throw createInvalidRequestFault(`Invalid string: must be at most 5000 characters`, path)
    return value
  }
  if (type === 'b') {
    const read = BOOLEANS.get(value)
    if (read === undefined) {
      throw createInvalidRequestFault(
        `Invalid boolean: ${value}`,
        path,
        'parameter_invalid_boolean',
      )
    }
    return read
  }
  if (type === 'd') {
    if (!/^-?\d+(\.\d{1,12})?$/.test(value))
      throw createInvalidRequestFault(`Invalid decimal: ${value}`, path)
    return value
  }
  const name = /([^[\]]+)\]?$/.exec(path)?.[1] ?? path
  const pattern = FRACTIONS.has(name) ? /^-?\d+(\.\d+)?$/ : /^-?\d+$/
  if (!pattern.test(value) || !Number.isSafeInteger(Math.trunc(Number(value)))) {
    throw createInvalidRequestFault(`Invalid integer: ${value}`, path, 'parameter_invalid_integer')
  }
  if (TIMESTAMP_NAMES.test(name) && Math.abs(Number(value)) > MAX_TIMESTAMP) {
    throw createInvalidRequestFault(
      `Invalid timestamp: ${value}. It must be an integer Unix timestamp in seconds.`,
      path,
      'parameter_invalid_integer',
    )
  }
  return Number(value)
}

function readEnum(allowed: readonly string[], value: FormValue, path: string): string {
  if (typeof value === 'string' && allowed.includes(value)) return value
  const names = [...allowed]
  const last = names.pop()
  const list = names.length > 0 ? `${names.join(', ')}, or ${last}` : last
  throw createInvalidRequestFault(`Invalid ${path}: must be one of ${list}`, path)
}

function readArray(element: Ref, value: FormValue, path: string, unknown: string[]): unknown[] {
  if (typeof value === 'string') throw createInvalidRequestFault('Invalid array', path)
  const keys = Object.keys(value)
  if (!keys.every((key) => /^\d+$/.test(key)))
    throw createInvalidRequestFault('Invalid array', path)
  keys.sort((a, b) => Number(a) - Number(b))
  return keys.map((key) =>
    readValue(resolve(element), value[key] as FormValue, `${path}[${key}]`, unknown),
  )
}

/**
 * Reads the value as the first matching member of a union. Throws the last member's error if none
 * matches.
 */
function readUnion(
  members: readonly Ref[],
  value: FormValue,
  path: string,
  unknown: string[],
): unknown {
  const fitting = members.filter((member) => fits(resolve(member), value))
  let complaint: unknown = createInvalidRequestFault(`Invalid ${path}`, path)
  for (const member of fitting.length > 0 ? fitting : members) {
    const inside: string[] = []
    try {
      const read = readValue(resolve(member), value, path, inside)
      if (inside.length === 0 || fitting.length === 1) {
        unknown.push(...inside)
        return read
      }
      complaint = createUnknownParamsFault(inside)
    } catch (error) {
      complaint = error
    }
  }
  throw complaint
}

function fits(node: SchemaNode, value: FormValue): boolean {
  if (typeof node === 'string' || 'e' in node) return typeof value === 'string'
  if ('z' in node) return value === '' || fits(resolve(node.z), value)
  if ('u' in node) return node.u.some((member) => fits(resolve(member), value))
  return typeof value === 'object'
}
