import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createClient,
  REDIRECT,
  startServer,
  submitApprovalDecision,
  type TestServer,
} from '../support.ts'

const ORDERS = 'https://orders.example.com'
const REPORTS = 'https://reports.example.com'

let server: TestServer
beforeAll(async () => {
  server = await startServer({
    resources: { [ORDERS]: { name: 'The <API> of orders' }, [REPORTS]: {} },
  })
})
afterAll(() => server.close())

/** Creates a confidential client, whose approvals are remembered. */
async function newClient(fields: { readonly firstParty?: boolean } = {}) {
  const { id } = await createClient(server, fields)
  const ask = (fields: Record<string, string>) => {
    const usual = { client_id: id, redirect_uri: REDIRECT, response_type: 'code' }
    const query = new URLSearchParams({ ...usual, scope: 'place-orders', ...fields })
    const headers = { cookie: 'session=ada.1', accept: 'text/html' }
    return server.request(`/oauth/authorize?${query}`, { headers })
  }
  const approve = async (fields: Record<string, string>) => {
    const back = await submitApprovalDecision(server, 'ada', await ask(fields))
    expect(back.searchParams.get('code')).not.toBeNull()
  }
  return { ask, approve }
}

it("the approval for the server's own API does not include another API", async () => {
  const { ask, approve } = await newClient()
  await approve({})
  expect((await ask({})).status).toBe(303)
  expect((await ask({ resource: ORDERS })).status).toBe(200)
  const silent = await ask({ resource: ORDERS, prompt: 'none' })
  expect(silent.headers.get('location')).toContain('error=consent_required')
})

it.each(['place-orders', ''])(
  "the approval for another API does not include the server's own API, even for the same scope (%j)",
  async (scope) => {
    const { ask, approve } = await newClient()
    await approve({ resource: ORDERS })
    expect((await ask({ scope })).status).toBe(200)
    expect((await ask({ scope, resource: REPORTS })).status).toBe(200)
  },
)

it("the approval for another API does not change the approval for the server's own API", async () => {
  const { ask, approve } = await newClient()
  await approve({})
  await approve({ resource: ORDERS, scope: 'check-status' })
  expect((await ask({})).status).toBe(303)
  expect((await ask({ scope: 'check-status' })).status).toBe(200)
})

it('the approval screen names the APIs that the request asks for', async () => {
  const { ask } = await newClient()
  expect(await (await ask({})).text()).not.toContain('The access is for')
  const page = await (await ask({ resource: ORDERS })).text()
  expect(page).toContain('The &lt;API&gt; of orders')
  expect(page).toContain(ORDERS)
  expect(await (await ask({ resource: REPORTS })).text()).toContain(REPORTS)
})

it("a first-party client needs no approval for an API other than the server's own", async () => {
  const { ask } = await newClient({ firstParty: true })
  expect((await ask({ resource: ORDERS })).status).toBe(303)
})
