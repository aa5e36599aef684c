import { createHmac, timingSafeEqual } from 'node:crypto'
import { AdminProblem } from './problems.ts'

/** Turns the position in a list into a text that callers cannot change, and back. */
export interface CursorCodec {
  /**
   * Encodes a position. `list` identifies the list and its filters; the cursor is valid only for
   * this list.
   */
  encode(list: string, position: unknown): string
  /**
   * Decodes the position in a cursor of this list.
   * @throws AdminProblem `invalid-cursor`
   */
  decode(list: string, cursor: string): unknown
}

const TAG_BYTES = 16

/**
 * Creates the codec. The first secret signs new cursors; cursors signed with any of the secrets are
 * accepted.
 */
export function createCursors(secrets: readonly string[]): CursorCodec {
  const [first = '', ...others] = secrets
  const tagOf = (secret: string, list: string, body: string) =>
    createHmac('sha256', `tollgate admin cursor ${secret}`)
      .update(`${list}\n${body}`)
      .digest()
      .subarray(0, TAG_BYTES)
  return {
    encode(list, position) {
      const body = Buffer.from(JSON.stringify(position)).toString('base64url')
      return `${body}.${tagOf(first, list, body).toString('base64url')}`
    },
    decode(list, cursor) {
      const [body = '', tag = '', ...rest] = cursor.split('.')
      const given = Buffer.from(tag, 'base64url')
      const isOurs =
        rest.length === 0 &&
        given.length === TAG_BYTES &&
        [first, ...others].some((secret) => timingSafeEqual(given, tagOf(secret, list, body)))
      if (isOurs) return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
      throw new AdminProblem(
        'invalid-cursor',
        'Set `after` to the `next` value of a page of this list with the same filters, or omit it.',
        { fields: { after: ['This cursor is not valid for this list.'] } },
      )
    },
  }
}
