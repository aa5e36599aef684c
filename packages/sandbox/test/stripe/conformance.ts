import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Type of a response, as scripts/stripe-contract.mjs reads it from the SDK's declarations. */
type Node =
  | string
  | { literal: string | number | boolean }
  | { union: Node[] }
  | { array: Node }
  | { list: Node; kind: string }
  | { map: Node }
  | { ref: string }
  | { fields: Fields }
type Fields = Record<string, { optional: boolean; type: Node }>

interface RouteContract {
  name: string
  resource: string
  method: string
  path: string
  response: Node
}
export interface Contract {
  version: string
  routes: RouteContract[]
  objects: Record<string, Fields>
  /** Output of `npm run generate`. */
  generated: string
}

/** Format in which the script stores the contract. */
interface Read {
  version: string
  routes: RouteContract[]
  objects: Map<string, Fields>
}

const SCRIPTS = [
  'stripe-contract.mjs',
  'generate-stripe-contract.mjs',
  'old-stripe-objects.mjs',
].map((name) => fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url))) as [
  string,
  string,
  string,
]

export async function loadContract(): Promise<Contract> {
  return cached('stripe', async () => {
    const [reader, generator] = SCRIPTS
    const { readStripeContract } = (await import(reader)) as { readStripeContract: () => Read }
    const { renderContract } = (await import(generator)) as {
      renderContract: (read: Read) => string
    }
    const read = readStripeContract()
    return {
      version: read.version,
      routes: read.routes.map(({ name, resource, method, path, response }) => ({
        name,
        resource,
        method,
        path,
        response,
      })),
      objects: Object.fromEntries(read.objects),
      generated: renderContract(read),
    }
  })
}

/** Reads the contract of an older SDK, which is installed under another name. */
export async function loadOldContract(name: string): Promise<Contract> {
  return cached(name, async () => {
    const { readOldObjects } = (await import(SCRIPTS[2])) as {
      readOldObjects: (name: string) => Read['objects']
    }
    const objects = Object.fromEntries(readOldObjects(name))
    return { version: name, routes: [], objects, generated: '' }
  })
}

/**
 * Caches the result beside the installed package, because reading the declarations takes seconds.
 */
async function cached(name: string, read: () => Promise<Contract>): Promise<Contract> {
  const sdk = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  const version = readFileSync(join(sdk, 'VERSION'), 'utf8').trim()
  const hash = createHash('sha256').update(version)
  for (const script of SCRIPTS) hash.update(readFileSync(script))
  const stamp = hash.digest('hex')
  const folder = join(dirname(sdk), '.cache', 'tollgate-sandbox')
  const file = join(folder, `${name}-${stamp.slice(0, 16)}.json`)
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Contract
  } catch {
    const contract = await read()
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(contract))
    renameSync(`${file}.${process.pid}`, file)
    return contract
  }
}

/** Checks responses against the types that the SDK declares, and returns the problems found. */
export class ConformanceChecker {
  readonly #contract: Contract
  readonly #routes: Array<{ method: string; pattern: RegExp; fixed: number; route: RouteContract }>
  /** Operations whose responses were checked, such as `Customers.create`. */
  readonly seen = new Set<string>()
  /** Kinds of objects that were checked, such as `invoice`. */
  readonly kinds = new Set<string>()

  /** Whether fields that the SDK does not know are allowed, because they were added later. */
  readonly #newerFields: boolean

  constructor(contract: Contract, options: { readonly newerFields?: boolean } = {}) {
    this.#contract = contract
    this.#newerFields = options.newerFields ?? false
    this.#routes = contract.routes.map((route) => ({
      method: route.method,
      pattern: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
      fixed: route.path.split('/').filter((part) => !part.startsWith(':')).length,
      route,
    }))
    this.#routes.sort((a, b) => b.fixed - a.fixed)
  }

  check(method: string, path: string, body: unknown): string[] {
    const found = this.#routes.find((each) => each.method === method && each.pattern.test(path))
    if (!found) return [`${method} ${path} is no call of the SDK`]
    const name = `${found.route.resource}.${found.route.name}`
    this.seen.add(name)
    return this.#validate(body, found.route.response, name)
  }

  /**
   * Checks an object against the type for its kind (the field `object`), for example an object
   * inside an event.
   */
  checkObject(value: unknown, path: string): string[] {
    const kind = (value as { object?: string }).object ?? '?'
    const name = (value as { deleted?: boolean }).deleted ? `deleted_${kind}` : kind
    const fields = this.#contract.objects[name]
    return fields ? this.#fields(value, fields, path, kind) : [`${path}: unknown kind ${name}`]
  }

  #validate(value: unknown, node: Node, path: string): string[] {
    if (typeof node === 'string') return this.#primitive(value, node, path)
    if ('literal' in node)
      return value === node.literal ? [] : [`${path}: ${show(value)} is not ${show(node.literal)}`]
    if ('union' in node) return this.#union(value, node.union, path)
    if ('array' in node) return this.#array(value, node.array, path)
    if ('list' in node) return this.#list(value, node, path)
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return [`${path}: ${show(value)} is not an object`]
    if ('map' in node)
      return Object.entries(value).flatMap(([key, each]) =>
        this.#validate(each, node.map, `${path}.${key}`),
      )
    if ('fields' in node) return this.#fields(value, node.fields, path)
    return this.#object(value, node.ref, path)
  }

  #object(value: object, name: string, path: string): string[] {
    if (name === 'event') return this.#event(value as Record<string, unknown>, path)
    const fields = this.#contract.objects[name]
    if (!fields) return [`${path}: unknown kind ${name}`]
    const kind = fields.object?.type as { literal?: string } | undefined
    const own = (value as { object?: unknown }).object
    if (kind?.literal !== own) return [`${path}: object is ${show(own)}, not ${name}`]
    return this.#fields(value, fields, path, name)
  }

  #event(event: Record<string, unknown>, path: string): string[] {
    const problems = [
      'id',
      'object',
      'api_version',
      'created',
      'data',
      'livemode',
      'pending_webhooks',
      'request',
      'type',
    ]
      .filter((field) => event[field] === undefined)
      .map((field) => `${path}.${field} is missing`)
    this.kinds.add('event')
    const data = event.data as { object: unknown } | undefined
    return data
      ? [...problems, ...this.checkObject(data.object, `${path}(${String(event.type)})`)]
      : problems
  }

  #fields(value: unknown, fields: Fields, path: string, kind?: string): string[] {
    const record = value as Record<string, unknown>
    if (kind) this.kinds.add(kind)
    const problems: string[] = []
    for (const [name, { optional, type }] of Object.entries(fields)) {
      if (record[name] === undefined) {
        if (!optional) problems.push(`${path}.${name} is missing`)
      } else problems.push(...this.#validate(record[name], type, `${path}.${name}`))
    }
    for (const name of this.#newerFields ? [] : Object.keys(record)) {
      if (!(name in fields)) problems.push(`${path}.${name} is not in the SDK's type`)
    }
    return problems
  }

  #list(value: unknown, node: { list: Node; kind: string }, path: string): string[] {
    const list = value as { object?: unknown; data?: unknown; has_more?: unknown; url?: unknown }
    if (list?.object !== node.kind) return [`${path}: not a ${node.kind}`]
    const shape = typeof list.has_more === 'boolean' && typeof list.url === 'string'
    return [
      ...(shape ? [] : [`${path}: has_more or url is missing`]),
      ...this.#array(list.data, node.list, `${path}.data`),
    ]
  }

  #array(value: unknown, element: Node, path: string): string[] {
    if (!Array.isArray(value)) return [`${path}: ${show(value)} is not an array`]
    return value.flatMap((each, at) => this.#validate(each, element, `${path}[${at}]`))
  }

  #union(value: unknown, members: Node[], path: string): string[] {
    let best: string[] | null = null
    for (const member of members) {
      const problems = this.#validate(value, member, path)
      if (problems.length === 0) return []
      const structural = typeof member === 'object' && !('literal' in member)
      if (
        structural &&
        typeof value === 'object' &&
        (best === null || problems.length < best.length)
      )
        best = problems
    }
    return best ?? [`${path}: ${show(value)} fits none of ${show(members)}`]
  }

  #primitive(value: unknown, type: string, path: string): string[] {
    const ok =
      type === 'any' ||
      (type === 'null' && value === null) ||
      (type === 'boolean' && typeof value === 'boolean') ||
      (type === 'number' && typeof value === 'number') ||
      ((type === 'string' || type === 'open-string' || type === 'decimal') &&
        typeof value === 'string')
    return ok ? [] : [`${path}: ${show(value)} is not ${type}`]
  }
}

function show(value: unknown): string {
  return JSON.stringify(value)?.slice(0, 120) ?? 'undefined'
}
