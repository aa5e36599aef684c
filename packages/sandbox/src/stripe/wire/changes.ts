type Fields = Record<string, unknown>

/**
 * `previous_attributes`: the old values of what changed, nested objects by their changed fields; null when nothing did.
 * Both nearly always have the same fields in the same order. Then V8 reads them by their places, which takes a third of
 * the time that looking them up by name takes.
 */
export function changes(before: Fields, after: Fields): Fields | null {
  const names = Object.keys(before)
  const values = Object.values(before)
  let changed: Fields | null = null
  let at = 0
  for (const name in after) {
    if (names[at] !== name) return changesByName(before, after)
    const is = after[name]
    const was = values[at++]
    if (was === is) continue
    const difference = differenceOf(was, is)
    if (difference === undefined) continue
    changed ??= {}
    changed[name] = difference
  }
  return at === names.length ? changed : changesByName(before, after)
}

function changesByName(before: Fields, after: Fields): Fields | null {
  const changed: Fields = {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const difference = differenceOf(own(before, name), own(after, name))
    if (difference !== undefined) changed[name] = difference
  }
  return Object.keys(changed).length > 0 ? changed : null
}

function own(fields: Fields, name: string): unknown {
  return Object.hasOwn(fields, name) ? fields[name] : undefined
}

/** What is told of a field that changed: null where there was none. Undefined when it did not. */
function differenceOf(was: unknown, is: unknown): unknown {
  if (was === is) return undefined
  if (was === undefined) return null
  if (isFields(was) && isFields(is)) return changes(was, is) ?? undefined
  return isSameList(was, is) ? undefined : was
}

function isSameList(was: unknown, is: unknown): boolean {
  if (!Array.isArray(was) || !Array.isArray(is) || was.length !== is.length) return false
  return was.every((each, at) => differenceOf(each, is[at]) === undefined)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
