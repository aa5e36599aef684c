import { randomUUID } from 'node:crypto'

/** Ids from a proxy that are short and harmless enough for logs and the audit log. */
const GIVEN = /^[\w.-]{8,64}$/
/** The header `traceparent` of W3C Trace Context, with the trace id as its first group. */
const TRACE = /^00-(?!0{32})([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/

/**
 * Returns the id of a request, which appears in its log lines, its response and the audit log: the
 * `X-Request-Id` of a trusted proxy, else the trace id of its `traceparent`, else a new one. Callers
 * must not choose the id themselves, because they could then make two requests look like one: the
 * proxy has to overwrite the header, as the production guide says.
 */
export function readRequestId(
  header: (name: string) => string | undefined,
  isFromProxy: boolean,
): string {
  if (!isFromProxy) return randomUUID()
  const given = header('x-request-id') ?? ''
  if (GIVEN.test(given)) return given
  return TRACE.exec(header('traceparent') ?? '')?.[1] ?? randomUUID()
}
