import { dirname, join } from 'node:path/posix'
import { findCircles } from './find-circles.mjs'

/**
 * Names of dialects and payment providers. Each has its own folder, and no other file may use its
 * name.
 */
export const FOREIGN_NAMES = ['sqlite', 'postgres', 'mysql', 'mariadb', 'stripe', 'braintree']

/**
 * Finds what is wrong with one package: `rooms` is its rooms.json from top to bottom, `modules` the
 * files of its src folder as returned by `readModule`, with paths relative to it.
 */
export function findFaults(rooms, modules) {
  const known = new Set(modules.map(({ path }) => path))
  const faults = []
  for (const module of modules) {
    const own = roomOf(rooms, module.path)
    if (own === -1) {
      faults.push(`${module.path} belongs to no room: list it in rooms.json, or move it`)
      continue
    }
    for (const { specifier, line } of module.imports) {
      const target = resolveImport(module.path, specifier)
      if (target === null) continue
      if (!known.has(target)) faults.push(`${module.path}:${line} imports ${target}: no such file`)
      const other = roomOf(rooms, target)
      if (other !== -1 && other < own) {
        faults.push(
          `${module.path}:${line} goes up: ${nameOf(rooms[own])} may not import ${target} of ${nameOf(rooms[other])}`,
        )
      }
    }
    faults.push(...findForeignNames(rooms[own], module))
  }
  faults.push(...findImportsOfInsides(rooms, modules))
  faults.push(...findCircles(importsOf(modules, known)).map((circle) => `${circle}: a circle`))
  return faults
}

/**
 * Finds imports from one folder of a room into another that its entry `open` does not list, and
 * listed files that no other folder imports. A `contract.ts` is always open.
 */
function findImportsOfInsides(rooms, modules) {
  const faults = []
  for (const { room, open } of rooms) {
    if (!open) continue
    for (const other of rooms) {
      const moved = (other.files ?? []).find((file) => file.startsWith(`${room}/`))
      if (moved) faults.push(`${nameOf(other)} takes ${moved} out of ${room}/`)
    }
    const unused = new Set(
      Object.entries(open).flatMap(([name, files]) =>
        files.map((file) => `${room}/${name}/${file}`),
      ),
    )
    const listed = new Set(unused)
    for (const { path, imports } of modules) {
      const own = folderIn(room, path)
      for (const { specifier, line } of own === null ? [] : imports) {
        const target = resolveImport(path, specifier)
        const other = target && folderIn(room, target)
        if (!other || other === own || target === `${room}/${other}/contract.ts`) continue
        unused.delete(target)
        if (listed.has(target)) continue
        faults.push(
          `${path}:${line} reaches inside ${room}/${other}/: import what it has open (rooms.json), or open ${target}`,
        )
      }
    }
    for (const file of unused) faults.push(`${file} is open, but no other folder imports it`)
  }
  return faults
}

/** Returns the name of the file's folder directly below the room. `null` if it is in none. */
function folderIn(room, path) {
  return path.startsWith(`${room}/`) && path.split('/').length > room.split('/').length + 1
    ? path.split('/')[room.split('/').length]
    : null
}

/** Finds imports of our own packages that a package may not use. */
export function findForeignPackages(uses, modules) {
  const faults = []
  for (const { path, imports } of modules) {
    for (const { specifier, line } of imports) {
      const [, name] = /^@tollgate\/(\w+)/.exec(specifier) ?? []
      if (name && !uses.includes(name)) faults.push(`${path}:${line} may not use @tollgate/${name}`)
    }
  }
  return faults
}

/** Returns the entry that lists the file, or the deepest folder above it. */
export function roomOf(rooms, path) {
  let found = -1
  let depth = -1
  for (const [index, { room, files }] of rooms.entries()) {
    if (files?.some((file) => matches(file, path))) return index
    if (room && path.startsWith(`${room}/`) && room.length > depth) {
      found = index
      depth = room.length
    }
  }
  return found
}

/** Whether a listed file matches. `*` stands for any name of a folder or a part of it. */
function matches(file, path) {
  if (!file.includes('*')) return file === path
  const escaped = file.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^/]*')
  return new RegExp(`^${escaped}$`).test(path)
}

export function nameOf({ room, files }) {
  return room ? `${room}/` : files.join(' ')
}

function resolveImport(from, specifier) {
  return specifier.startsWith('.') ? join(dirname(from), specifier) : null
}

function importsOf(modules, known) {
  const graph = new Map()
  for (const { path, imports } of modules) {
    const targets = imports.map(({ specifier }) => resolveImport(path, specifier))
    graph.set(path, new Set(targets.filter((target) => known.has(target))))
  }
  return graph
}

function findForeignNames(room, { path, words }) {
  const faults = new Map()
  for (const { text, line } of words) {
    for (const name of FOREIGN_NAMES) {
      if (!text.toLowerCase().includes(name) || room.says?.includes(name)) continue
      // One line for each would hide the others, and the first one is enough to find them.
      if (!faults.has(name)) {
        faults.set(name, `${path}:${line} says "${name}", which belongs to a folder of its own`)
      }
    }
  }
  return faults.values()
}
