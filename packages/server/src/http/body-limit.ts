import type { MiddlewareHandler } from 'hono'
import { cutOff } from './body.ts'
import type { AppEnv } from './variables.ts'

/**
 * Refuses larger bodies early. Hono's own makes a new Request where no length was sent, which works
 * only with Node's global classes replaced.
 */
export function limitBody(largest: number): MiddlewareHandler<AppEnv> {
  const refusal = {
    error: 'payload_too_large',
    error_description: `A body may have at most ${largest} bytes.`,
  }
  return async (c, next) => {
    const length = c.req.header('content-length')
    if (length !== undefined) {
      return Number(length) > largest ? c.json(refusal, 413) : next()
    }
    if (c.req.header('transfer-encoding') === undefined || !c.req.raw.body) return next()
    const text = await readAtMost(c.req.raw.body, largest)
    if (text === null) return c.json(refusal, 413)
    // Where every later reader looks first; it holds promises, whatever its type says.
    c.req.bodyCache.text = Promise.resolve(text) as unknown as string
    return next()
  }
}

/** Null when there is more. */
async function readAtMost(body: ReadableStream<Uint8Array>, most: number): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let size = 0
  const reader = body.getReader()
  for (;;) {
    const { done, value } = await reader.read().catch(cutOff)
    if (done) return Buffer.concat(chunks).toString('utf8')
    size += value.byteLength
    if (size > most) {
      await reader.cancel()
      return null
    }
    chunks.push(value)
  }
}
