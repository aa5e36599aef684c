import { InvalidArgument } from '../core/errors/errors.ts'

/**
 * Rejects provider options that a billing method sets itself, such as the amount of a charge. With
 * two amounts it would be unclear which one is charged.
 * @throws InvalidArgument if the options contain one of them.
 */
export function rejectReservedOptions(options: object, reservedNames: readonly string[]): void {
  const said = reservedNames.filter((name) => Object.hasOwn(options, name))
  if (said.length === 0) return
  throw new InvalidArgument(
    `The method itself sets ${said.map((name) => `'${name}'`).join(' and ')}: leave it out of the options`,
  )
}
