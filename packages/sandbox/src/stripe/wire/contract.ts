import { NODES, ROUTES } from './contract.generated.ts'

interface Type {
  readonly o?: Readonly<Record<string, number>>
  readonly a?: number
  readonly e?: readonly string[]
}

/** Returns the type of a parameter. */
function findParamType(operation: string, param: string): Type {
  const route = ROUTES.find(([, , name]) => name === operation)
  const params = NODES[route?.[3] ?? -1] as Type | undefined
  const type = NODES[params?.o?.[param] ?? -1] as Type | undefined
  if (!type) throw new Error(`The contract has no ${param} of ${operation}`)
  return type
}

/**
 * Returns the values that an operation allows for a parameter. For a list parameter, the values
 * allowed for its entries.
 */
export function listAllowedValues(operation: string, param: string): readonly string[] {
  const type = findParamType(operation, param)
  return type.e ?? (NODES[type.a ?? -1] as Type | undefined)?.e ?? []
}

/** Returns the names of the fields of an object parameter of an operation. */
export function listParamFields(operation: string, param: string): readonly string[] {
  return Object.keys(findParamType(operation, param).o ?? {})
}
