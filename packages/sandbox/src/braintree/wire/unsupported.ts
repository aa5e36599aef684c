import { Refused } from './errors.ts'
import type { Fields } from './validation.ts'

/** A parameter that is Braintree's but not the sandbox's is refused by name, never dropped. */
export function refuseUnsupported(
  fields: Fields,
  parent: string,
  unsupported: ReadonlySet<string>,
): void {
  const given = Object.keys(fields.values).filter(
    (key) => unsupported.has(key) && !fields.isBlank(key) && fields.value(key) !== false,
  )
  if (given.length === 0) return
  const names = given.map((key) => `${parent}[${key}]`).join(', ')
  throw new Refused({ message: `This sandbox does not imitate ${names}: leave it out.` })
}
