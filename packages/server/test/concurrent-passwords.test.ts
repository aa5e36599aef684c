import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from './support.ts'

const EMAIL = 'ada@example.com'
const PASSWORD = 'correct horse'
const AT_ONCE = 24

let service: TestService
beforeAll(async () => {
  service = await startTestService({ environment: { TOLLGATE_TRUSTED_PROXIES: '127.0.0.1, ::1' } })
  await service.users.create({ email: EMAIL, password: PASSWORD })
})
afterAll(() => service.stop())

const from = (address: string) => ({ 'x-forwarded-for': address })

describe('correct passwords (threat Q6)', () => {
  it('are all accepted when 24 arrive concurrently at the sign-in page', async () => {
    const signIn = async () => {
      const form = { email: EMAIL, password: PASSWORD }
      return (await service.browser().post('/login', form, from('203.0.113.1'))).status
    }
    const statuses = await Promise.all(Array.from({ length: AT_ONCE }, signIn))
    expect(statuses).toEqual(Array.from({ length: AT_ONCE }, () => 303))
  })

  it('are all accepted when 24 arrive concurrently at the token endpoint (password grant)', async () => {
    const { id = '', secret } = service.demo?.clients.password ?? {}
    const client = { client_id: id, client_secret: secret ?? '' }
    const exchange = async () => {
      const response = await fetch(`${service.url}/oauth/token`, {
        method: 'POST',
        headers: from('203.0.113.2'),
        body: new URLSearchParams({
          ...client,
          grant_type: 'password',
          username: EMAIL,
          password: PASSWORD,
        }),
      })
      return response.status
    }
    const statuses = await Promise.all(Array.from({ length: AT_ONCE }, exchange))
    expect(statuses).toEqual(Array.from({ length: AT_ONCE }, () => 200))
  })
})
