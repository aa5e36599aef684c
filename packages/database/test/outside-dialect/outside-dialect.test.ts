import { connect } from '@tollgate/database'
import { dialectContract } from '@tollgate/database/testing'
import { describe, expect, it } from 'vitest'
import { createEmptyDatabase } from '../../../../test-support/create-test-database.ts'
import { cockroach } from './cockroach.ts'

const withDialect = { dialects: [cockroach] }

describe.runIf(process.env.TEST_DATABASE === 'postgres')('a dialect from another package', () => {
  dialectContract({ describe, it }, async () => {
    const { url, remove } = await createEmptyDatabase()
    const theirs = url.replace(/^postgres(ql)?:/, 'cockroach:')
    return { connect: (options) => connect(theirs, { ...options, ...withDialect }), remove }
  })
})

describe('connect(), with dialects from other packages,', () => {
  it('uses a dialect from another package only if it is passed in the options', async () => {
    const url = 'cockroach://root:secret@localhost:1/app'
    await expect(connect(url)).rejects.toThrow(/unknown scheme; expected sqlite:<file>/)
    const error = await connect(url, withDialect).catch((e) => e)
    expect(error.message).toMatch(/^Cannot open the database cockroach:\/\/root:\*\*\*@localhost:1/)
    await expect(connect('x:', withDialect)).rejects.toThrow(
      'expected cockroach://…, sqlite:<file>',
    )
  })

  it('prefers a dialect from the options to a built-in one for the same URL scheme', async () => {
    let opened = ''
    const mine = {
      ...cockroach,
      schemes: ['sqlite'],
      open: async (url: string) => {
        opened = url
        throw new Error('mine')
      },
    }
    await expect(connect('sqlite::memory:', { dialects: [mine] })).rejects.toThrow('mine')
    expect(opened).toBe('sqlite::memory:')
  })
})
