/** Well below what a statement takes on either database: with a longer list Prisma refuses, or splits it out of sight. */
const PORTION = 500

/** Looks up any number of ids, so many in one query. For lists that nothing in the database itself could be joined with. */
export async function inPortions<Id, Row>(ids: readonly Id[], find: (portion: Id[]) => Promise<Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for (let from = 0; from < ids.length; from += PORTION) rows.push(...(await find(ids.slice(from, from + PORTION))))
  return rows
}
