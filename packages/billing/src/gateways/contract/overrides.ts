import { InvalidArgument } from '../../errors.ts'

/**
 * What a call decides itself cannot be said a second time in its options: of two amounts only one is
 * charged, and nobody could tell which.
 */
export function refuseOverrides(options: object, decided: readonly string[]): void {
  const said = decided.filter((name) => Object.hasOwn(options, name))
  if (said.length === 0) return
  throw new InvalidArgument(
    `The call itself decides ${said.map((name) => `'${name}'`).join(' and ')}: leave it out of the options`,
  )
}
