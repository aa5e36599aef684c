// Compares the results of the specs with the list of known failures. Every failure must be listed
// under a reason with its number of specs; a spec that passes again must be removed from the list.

/** Returns how the list differs from the results, in words. Empty if it agrees. */
export function judge(file, { passes, failures }, list) {
  const entries = list.filter((entry) => entry.file === file)
  const problems = []
  for (const { fullTitle, err } of failures) {
    const under = entries.filter(({ titles }) => titles.test(fullTitle))
    if (under.length === 0) problems.push(`fails, and is not listed: ${fullTitle} (${brief(err)})`)
    if (under.length > 1) problems.push(`is listed under ${under.length} reasons: ${fullTitle}`)
  }
  for (const { titles, count } of entries) {
    const failed = failures.filter(({ fullTitle }) => titles.test(fullTitle)).length
    if (failed === count) continue
    const passed = passes.filter(({ fullTitle }) => titles.test(fullTitle))
    const which = passed.map(({ fullTitle }) => `\n    passes: ${fullTitle}`).join('')
    problems.push(`${failed} like ${titles} fail, the list says ${count}${which}`)
  }
  return problems
}

/** Returns the number of failed specs by reason. */
export function reasonsOf(file, list) {
  const counts = new Map()
  for (const { file: of, count, why } of list) {
    if (of === file) counts.set(why, (counts.get(why) ?? 0) + count)
  }
  return [...counts].map(([why, count]) => `${count} ${why}`)
}

function brief(err) {
  return String(err?.message).split('\n')[0]
}
