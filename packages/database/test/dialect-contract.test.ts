import { connect } from '@tollgate/database'
import { dialectContract } from '@tollgate/database/testing'
import { describe, it } from 'vitest'
import { createEmptyDatabase } from '../../../test-support/create-test-database.ts'

dialectContract({ describe, it }, async () => {
  const { url, remove } = await createEmptyDatabase()
  return { connect: (options) => connect(url, options), remove }
})
