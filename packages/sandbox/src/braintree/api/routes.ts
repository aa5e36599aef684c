import { Router } from '../../core/router.ts'
import type { Operation, Operations } from './operation.ts'

/** The operations of each resource, below the resource's own segment. */
export function createRouter(resources: Readonly<Record<string, Operations>>): Router<Operation> {
  const router = new Router<Operation>()
  for (const [name, operations] of Object.entries(resources)) {
    for (const [key, operation] of Object.entries(operations)) {
      const [method = '', path = ''] = key.split(' ')
      router.add(method, `/${name}${path === '/' ? '' : path}`, operation)
    }
  }
  return router
}
