import type { HttpRequest } from '@tollgate/http'
import type { z } from 'zod'
import { ValidationFailed } from '../errors.ts'
import { readJson } from '../http/body.ts'

/** A JSON body that fits the schema, or 422 with the texts of each field. Other fields are ignored. */
export async function readValid<Schema extends z.ZodType>(
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
