import { InvalidArgument } from '../core/errors/errors.ts'

/**
 * Rejects options that the method sets itself. Otherwise, of two amounts only one would be charged,
 * and it would be unclear which.
 * @throws InvalidArgument if the options contain one of them.
 */
export function refuseOverrides(options: object, decided: readonly string[]): void {
  const said = decided.filter((name) => Object.hasOwn(options, name))
  if (said.length === 0) return
  throw new InvalidArgument(
    `The call itself decides ${said.map((name) => `'${name}'`).join(' and ')}: leave it out of the options`,
  )
}
