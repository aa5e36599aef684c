import type { Role } from '../../src/users/roles.ts'
import { newAddress, PASSWORD } from '../accounts.ts'
import type { TestService } from '../support.ts'

/** A response of the management API. */
export interface AdminResponse {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look at members of many shapes
  readonly body: any
}

export interface AdminRequest {
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Sends one request to the management API. */
export type AdminCall = (
  method: string,
  path: string,
  request?: AdminRequest,
) => Promise<AdminResponse>

/** Creates operators and clients that call the management API of a running service. */
export function createOperatorHelpers(service: TestService) {
  const init = (method: string, { body, headers }: AdminRequest, own: Record<string, string>) => ({
    method,
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...own,
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const read = async (response: Response): Promise<AdminResponse> => {
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    }
  }
  const call =
    (own: Record<string, string>): AdminCall =>
    async (method, path, request = {}) =>
      read(await fetch(`${service.url}/admin/v1${path}`, init(method, request, own)))

  return {
    /** Calls the API without credentials, or with these headers. */
    with: call,
    /** Signs in a new operator, or a person without a role. */
    async operator(role: Role | null) {
      const email = newAddress(role ?? 'person')
      const { id } = await service.users.create({ email, password: PASSWORD, role })
      const browser = service.browser()
      await browser.signIn(email, PASSWORD)
      const token = await browser.csrfToken()
      const own = { origin: service.url, 'x-csrf-token': token }
      const send: AdminCall = async (method, path, request = {}) =>
        read(await browser.request(`/admin/v1${path}`, init(method, request, own)))
      return { id, email, browser, call: send }
    },
    /** Creates a person who only uses the service. */
    async person() {
      const email = newAddress('person')
      const { id } = await service.users.create({ email, password: PASSWORD })
      return { id, email }
    },
    /** Reads the audit entries of an operation, the oldest first. */
    entries(operation: string) {
      return service.database.kysely
        .selectFrom('audit_entries')
        .selectAll()
        .where('operation', '=', operation)
        .orderBy('id')
        .execute()
    },
  }
}
