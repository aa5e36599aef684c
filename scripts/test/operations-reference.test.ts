import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  adminScopes,
  getOperationArea,
  OPERATION_AREAS,
} from '../../packages/server/src/admin/operation.ts'
import { OPERATIONS } from '../../packages/server/src/admin/operations/all.ts'
import { PROBLEMS } from '../../packages/server/src/service-error.ts'
import { PAGE, writeOperations } from '../operations-reference.mjs'

it('docs/reference/admin.md matches the operations (npm run docs:operations writes it)', () => {
  const page = readFileSync(PAGE, 'utf8')
  const code = {
    operations: OPERATIONS,
    areas: OPERATION_AREAS,
    scopes: adminScopes(),
    getOperationArea,
    problems: PROBLEMS,
  }
  expect(page).toBe(writeOperations(page, code))
  for (const { name } of OPERATIONS) expect(page).toContain(`| \`${name}\` |`)
})
