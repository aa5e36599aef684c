import { clientCredentials } from '@tollgate/oauth'
import { storageContract } from '@tollgate/oauth/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mapStorage } from './map-storage.ts'
import { startServer } from './start-server.ts'

describe('storageContract() on a storage written outside the package', () => {
  storageContract({ describe, it }, async () => mapStorage())
})

describe('storageContract(), the test suite for custom storage,', () => {
  it('fails for a storage in which a code can be exchanged twice', async () => {
    const failures: string[] = []
    const tests: Array<() => Promise<void>> = []
    const runner = {
      describe: (_name: string, body: () => void) => body(),
      it: (name: string, body: () => Promise<void>) => {
        tests.push(() => body().catch(() => void failures.push(name)))
      },
    }
    storageContract(runner, async () => {
      const storage = mapStorage()
      return { ...storage, codes: { ...storage.codes, exchange: async () => true } }
    })
    for (const test of tests) await test()
    expect(failures).not.toEqual([])
  })
})

it('a server runs on a custom storage that uses only what the package publishes', async () => {
  const { oauth, token } = startServer({ storage: mapStorage(), grants: [clientCredentials()] })
  onTestFinished(() => oauth.close())
  const grants = ['client_credentials']
  const { client, secret } = await oauth.clients.create({ name: 'Shop', grants })
  const credentials = { client_id: client.id, client_secret: secret ?? '' }
  const form = { ...credentials, grant_type: 'client_credentials', scope: 'read' }
  expect(await token(form)).toMatchObject({ token_type: 'Bearer', scope: 'read' })
})
