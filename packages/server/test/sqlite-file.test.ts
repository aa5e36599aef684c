import { renameSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { startTestService } from './support.ts'

describe.runIf(process.env.TEST_DATABASE === 'sqlite')(
  'the SQLite file of a running service',
  () => {
    it('is unusable while it is moved away, and works when it is back', async () => {
      const service = await startTestService()
      try {
        const { id = '', secret = '' } = service.demo?.clients.password ?? {}
        const getToken = () =>
          fetch(`${service.url}/oauth/token`, {
            method: 'POST',
            body: new URLSearchParams({
              grant_type: 'password',
              client_id: id,
              client_secret: secret ?? '',
              username: service.demo?.email ?? '',
              password: service.demo?.password ?? '',
            }),
          })
        const { access_token: token } = (await (await getToken()).json()) as {
          access_token: string
        }
        const authorization = `Bearer ${token}`
        const use = async (path: string) =>
          (await fetch(`${service.url}${path}`, { headers: { authorization } })).status
        expect(await use('/api/orders')).toBe(403)

        const path = service.databaseUrl.replace('sqlite:', '')
        renameSync(path, `${path}.away`)
        await expect.poll(() => use('/api/orders')).toBe(503)
        expect((await getToken()).status).toBe(503)
        expect(await use('/readyz')).toBe(503)
        expect(await use('/healthz')).toBe(200)

        renameSync(`${path}.away`, path)
        await expect.poll(() => use('/api/orders')).toBe(403)
        expect((await getToken()).status).toBe(200)
        expect(await use('/readyz')).toBe(200)
      } finally {
        await service.stop()
      }
    })
  },
)
