export function migrationSql(provider: "sqlite" | "postgresql", from: string | null, to: string): Promise<string>
