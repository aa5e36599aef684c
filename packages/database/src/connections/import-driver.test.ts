import { describe, expect, it } from 'vitest'
import { importDriver } from './import-driver.ts'

describe('importDriver()', () => {
  it('names the package to install if it is missing', async () => {
    const missing = Object.assign(new Error('no'), { code: 'ERR_MODULE_NOT_FOUND' })
    const load = importDriver('pg', () => Promise.reject(missing))
    await expect(load).rejects.toMatchObject({
      code: 'TOLLGATE_MISSING_PACKAGE',
      package: 'pg',
      message: expect.stringContaining('npm install pg'),
    })
  })

  it('throws every other error unchanged', async () => {
    const broken = new SyntaxError('broken')
    await expect(importDriver('pg', () => Promise.reject(broken))).rejects.toBe(broken)
  })
})
