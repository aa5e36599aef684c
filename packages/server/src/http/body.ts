import type { Context } from 'hono'
import type { AppEnv } from './variables.ts'

/**
 * The caller went away before its body had arrived. Node reports a lost connection, as a database
 * does; this one is nobody's failure.
 */
export class RequestCutOff extends Error {
  override readonly name = 'RequestCutOff'
}

/** The body as text; every later reader gets the same. */
export async function readText(c: Context<AppEnv>): Promise<string> {
  return c.req.text().catch(cutOff)
}

export function cutOff(cause: unknown): never {
  throw new RequestCutOff('The request was cut off', { cause })
}
