import type { Operation } from '../operation.ts'
import { accessOperations } from './access.ts'
import { auditOperations } from './audit.ts'
import { keyOperations } from './keys.ts'
import { userOperations } from './users.ts'

/** Every operation of operators. The API, the pages and the commands call these and nothing else. */
export const OPERATIONS: readonly Operation[] = [
  ...userOperations,
  ...accessOperations,
  ...keyOperations,
  ...auditOperations,
]

const byName = new Map(OPERATIONS.map((operation) => [operation.name as string, operation]))

/** Finds an operation by its name, which a programmer wrote. */
export function operationNamed(name: string): Operation {
  const found = byName.get(name)
  if (!found) throw new TypeError(`There is no operation ${name}`)
  return found
}
