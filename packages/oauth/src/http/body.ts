import type { HttpRequest } from '@tollgate/http'
import type { z } from 'zod'
import { InvalidRequest, UnsupportedMediaType, ValidationFailed } from '../errors.ts'

/**
 * Largest accepted body in bytes. The longest legitimate requests have a 2 kB state and a few
 * scopes.
 */
export const MAX_BODY_BYTES = 64 * 1024

export function readMediaType(request: HttpRequest): string {
  const header = request.header('content-type') ?? ''
  const end = header.indexOf(';')
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase()
}

/**
 * Reads a JSON body. Only `application/json` is accepted: cross-site forms can send three other
 * content types without a preflight.
 */
export async function readJson(request: HttpRequest): Promise<unknown> {
  if (readMediaType(request) !== 'application/json') {
    throw new UnsupportedMediaType('Send the body as application/json.')
  }
  const text = await request.text(MAX_BODY_BYTES)
  // Decoding replaced bytes that are not UTF-8. A NUL or a lone surrogate is rejected too.
  if (text.includes('\ufffd')) throw new InvalidRequest('The body is not UTF-8')
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new InvalidRequest('The body is not JSON', { cause })
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new InvalidRequest('The body must be a JSON object')
  }
  return parsed
}

/**
 * Reads a JSON body and validates it; unknown fields are ignored.
 * @throws ValidationFailed (422) with the messages of each field
 */
export async function readValidJson<Schema extends z.ZodType>(
  request: HttpRequest,
  schema: Schema,
): Promise<z.infer<Schema>> {
  const result = schema.safeParse(await readJson(request))
  if (result.success) return result.data
  const errors: Record<string, string[]> = {}
  for (const issue of result.error.issues) {
    const field = String(issue.path[0] ?? 'body')
    const texts = Object.hasOwn(errors, field) ? (errors[field] ?? []) : []
    if (!texts.includes(issue.message)) errors[field] = [...texts, issue.message]
  }
  throw new ValidationFailed(errors)
}
