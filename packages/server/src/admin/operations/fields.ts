import { z } from 'zod'
import type { CursorCodec } from '../cursor.ts'

const names = new WeakMap<z.core.$ZodType, string>()

/**
 * Names a schema of responses, so that generated clients have one class for it. Returns the schema.
 */
export function nameSchema<Schema extends z.ZodType>(name: string, schema: Schema): Schema {
  names.set(schema, name)
  return schema
}

export function findSchemaName(schema: z.core.$ZodType): string | undefined {
  return names.get(schema)
}

/** Schema of the id of an object, in the input of several operations. */
export const id = z.string().min(1).max(2000).describe('Id of the object')
export const userId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, 'Expected the id of a user, such as 42.')
  .describe('Id of the user')
/** A user's id in an application that uses the libraries: a number, a UUID or another text. */
export const ownerId = z.string().min(1).max(255).describe('Id of the user')
export const instant = z.iso.datetime().describe('ISO 8601, in UTC')
/**
 * Schema of a date and time in a request. Accepts any UTC offset, because many clients write UTC as
 * `+00:00`.
 */
export const givenInstant = z.iso
  .datetime({ offset: true })
  .describe('ISO 8601, with `Z` or an offset')

/** Query parameters of every list. */
export const pagedFields = {
  after: z.string().max(2000).optional().describe('The `next` value of the previous page'),
  limit: z.coerce.number().int().min(1).max(100).default(25).describe('Maximum number of entries'),
}

/** Creates the schema of one page of a list. */
export const pageShape = <Entry extends z.ZodType>(entry: Entry) =>
  z.strictObject({
    data: z.array(entry),
    next: z.string().nullable().describe('Cursor of the next page. `null` on the last page'),
  })

/** The fields of a list request that choose the page. */
export interface PageRequest {
  readonly after?: string | undefined
  readonly limit: number
}

/**
 * Reads one page. `read` gets the position after which to begin, and a limit of one entry more than
 * the page holds: if it returns that many, another page follows.
 */
export async function readPage<Entry, Position>(
  { after, limit }: PageRequest,
  list: string,
  cursors: CursorCodec,
  {
    read,
    positionOf,
  }: {
    readonly read: (position: Position | null, limit: number) => Promise<readonly Entry[]>
    readonly positionOf: (entry: Entry) => Position
  },
): Promise<{ data: Entry[]; next: string | null }> {
  const position = after === undefined ? null : (cursors.decode(list, after) as Position)
  const found = await read(position, limit + 1)
  const data = found.slice(0, limit)
  const last = data.at(-1)
  const next =
    found.length > limit && last !== undefined ? cursors.encode(list, positionOf(last)) : null
  return { data, next }
}
