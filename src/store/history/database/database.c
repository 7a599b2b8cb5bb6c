/* SPDX-License-Identifier: MIT */
#include "store/history/database/database.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/collection/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "store/tscope/container.h"

#define BUSY_TIMEOUT_MS 5000
#define MOMENT_MS 10
#define LOCK_PATIENCE_NS (20 * NS_PER_SECOND)
#define LOCK_RETRY_MS 5
#define LOCK_RETRIES 50 /* before it is asked again who has it */
#define CACHE_KIB 2048

/* What a stranger's file may make SQLite do. */
static const struct {
	int id, limit;
} limits[] = {
	{ SQLITE_LIMIT_LENGTH, 256 << 20 },
	{ SQLITE_LIMIT_SQL_LENGTH, 64 << 10 },
	{ SQLITE_LIMIT_COLUMN, 200 },
	{ SQLITE_LIMIT_EXPR_DEPTH, 100 },
	{ SQLITE_LIMIT_COMPOUND_SELECT, 4 },
	{ SQLITE_LIMIT_ATTACHED, 0 },
	{ SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256 },
	{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
	{ SQLITE_LIMIT_WORKER_THREADS, 0 },
};

static const struct {
	int option, value;
} switches[] = {
	{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
	{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
	{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
	{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
	{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
};

static int configure(struct database *database, struct error *error)
{
	char sql[200];

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(database->handle, limits[i].id, limits[i].limit);
	for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
		sqlite3_db_config(database->handle, switches[i].option, switches[i].value, NULL);
	/* A stranger's table could be one of text search, and would be read by all of its code. */
	sqlite3_drop_modules(database->handle, NULL);
	sqlite3_busy_timeout(database->handle, BUSY_TIMEOUT_MS);
	snprintf(sql, sizeof(sql),
		 "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA cache_size=-%d; "
		 "PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=OFF;",
		 CACHE_KIB);
	return database_run(database, sql, error);
}

/* The pid of the recorder that has the file, as it wrote it down; 0 when not known. */
static int64_t find_owner(const char *path)
{
	struct database database = { .lock = -1 };
	struct error ignored = { 0 };
	int64_t pid = 0;

	if (database_open_reader(&database, path, false, &ignored) == 0)
		pid = database_number(
			&database, "SELECT CAST(value AS INTEGER) FROM meta WHERE key='writer_pid'",
			0);
	database_close(&database);
	return pid;
}

static int is_busy(const char *path, struct error *error)
{
	int64_t pid = find_owner(path);
	char who[64] = "another recorder";

	if (pid > 0)
		snprintf(who, sizeof(who), "the recorder with pid %lld", (long long)pid);
	return error_set(error, -EBUSY, "%s is in use: %s writes it; choose another with --store",
			 path, who);
}

static int cannot(const char *action, const char *path, int status, struct error *error)
{
	return error_set(error, status, "cannot %s %s: %s: %s", action, path, strerror(-status),
			 file_write_advice(status));
}

/* Whether nobody else can write to what SQLite would open beside the file. */
static bool is_ours(const struct place *place, const char *ending)
{
	char name[sizeof(place->name) + 16];
	struct stat file;

	snprintf(name, sizeof(name), "%s%s", place->name, ending);
	if (fstatat(place->dir, name, &file, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	return S_ISREG(file.st_mode) && place_trusts(file.st_uid) && file.st_nlink == 1;
}

static bool are_ours(const struct place *place)
{
	return is_ours(place, "") && is_ours(place, "-wal") && is_ours(place, "-shm") &&
	       is_ours(place, "-journal");
}

static int not_ours(const char *path, struct error *error)
{
	return error_set(error, -EACCES,
			 "cannot write %s: others can change it or a file beside it; write to a "
			 "directory of your own",
			 path);
}

/* A lock of the open file, not of the process: closing another descriptor keeps it. */
static int try_lock(int fd)
{
	if (fcntl(fd, F_OFD_SETLK,
		  &(struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 }) == 0)
		return 0;
	return errno == EACCES ? -EAGAIN : -errno;
}

/* A recorder keeps it; whoever adds a few rows is soon done.  To ask who has it takes a while. */
static int wait_for_lock(int fd, const char *path)
{
	uint64_t end_ns = monotonic_ns() + LOCK_PATIENCE_NS;
	int status = try_lock(fd);

	while (status == -EAGAIN && monotonic_ns() < end_ns && find_owner(path) == 0)
		for (int i = 0; i < LOCK_RETRIES && status == -EAGAIN; i++) {
			(void)poll(NULL, 0, LOCK_RETRY_MS);
			status = try_lock(fd);
		}
	return status;
}

static int lock_file(struct database *database, const struct place *place, const char *path,
		     struct error *error)
{
	int fd = openat(place->dir, place->name,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int status;

	if (fd < 0)
		return cannot("write", path, -errno, error);
	database->lock = fd;
	status = wait_for_lock(fd, path);
	if (status == 0)
		return are_ours(place) ? 0 : not_ours(path, error);
	return status == -EAGAIN ? is_busy(path, error) : cannot("lock", path, status, error);
}

static int open_handle(struct database *database, const char *path, int flags, struct error *error)
{
	int code = sqlite3_open_v2(path, &database->handle, flags | SQLITE_OPEN_PRIVATECACHE, NULL);

	if (!database->path)
		database->path = strdup(path);
	if (!database->path)
		return error_set(error, -ENOMEM, "not enough memory");
	if (code != SQLITE_OK)
		return database_fail(database, "open", error);
	sqlite3_extended_result_codes(database->handle, 1);
	return 0;
}

int database_open_writer(struct database *database, const char *path, struct error *error)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(free_pointer) char *real = NULL;
	int status = file_make_folders(path);

	*database = (struct database){ .lock = -1 };
	if (status == 0)
		status = place_open(&place, path);
	if (status < 0)
		return cannot("write", path, status, error);
	/* Others could swap the file for a link while SQLite opens it by its name. */
	if (place.is_exposed)
		return not_ours(path, error);
	status = lock_file(database, &place, path, error);
	if (status < 0)
		return status;
	real = realpath(path, NULL);
	if (!real)
		return cannot("write", path, -errno, error);
	status = open_handle(database, real, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW, error);
	if (status == 0)
		status = configure(database, error);
	if (status == 0)
		status = database_run(database,
				      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA journal_mode=WAL; "
				      "PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=500; "
				      "PRAGMA journal_size_limit=4194304; BEGIN IMMEDIATE; COMMIT;",
				      error);
	/* Now that these files exist, nobody can put others in their place. */
	if (status == 0 && !are_ours(&place))
		return not_ours(path, error);
	return status;
}

static int move_beside(const struct place *place, const char *name, const char *ending)
{
	char from[sizeof(place->name) + 16], to[NAME_MAX + 64];

	snprintf(from, sizeof(from), "%s%s", place->name, ending);
	snprintf(to, sizeof(to), "%s%s", name, ending);
	if (renameat(place->dir, from, place->dir, to) < 0 && errno != ENOENT)
		return -errno;
	return 0;
}

int database_set_aside(struct database *database, char **ret_name, struct error *error)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };
	CLEANUP(free_pointer) char *path = TAKE_PTR(database->path);
	char name[NAME_MAX + 1], when[32];
	time_t now = time(NULL);
	struct tm local;
	int status = path ? place_open(&place, path) : -ENOMEM;

	if (status < 0)
		return cannot("rename", path ? path : "", status, error);
	localtime_r(&now, &local);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &local);
	/* A long name is cut, so that there is room for the time and for -wal. */
	snprintf(name, sizeof(name), "%.*s.damaged-%s", NAME_MAX - 48, place.name, when);
	sqlite3_close(database->handle);
	database->handle = NULL;
	status = move_beside(&place, name, "");
	for (const char *const *ending = (const char *const[]){ "-wal", "-shm", NULL };
	     *ending && status == 0; ending++)
		status = move_beside(&place, name, *ending);
	if (status < 0)
		return cannot("rename", path, status, error);
	*ret_name = strdup(name);
	database_close(database);
	return *ret_name ? 0 : error_set(error, -ENOMEM, "not enough memory");
}

/* Whether all content is in the file itself. */
static bool has_no_wal(const char *path)
{
	CLEANUP(text_free) struct text wal = { 0 };
	struct stat file;

	text_format(&wal, "%s-wal", path);
	return stat(text_string(&wal), &file) < 0 || file.st_size == 0;
}

/* Opens the file as one that nobody writes to, so that SQLite needs no files beside it. */
static int open_immutable(struct database *database, const char *path, struct error *error)
{
	CLEANUP(text_free) struct text uri = { 0 };

	sqlite3_close(database->handle);
	database->handle = NULL;
	text_format(&uri, "file:");
	for (const char *next = path; *next; next++)
		text_format(&uri, strchr("?#%", *next) || *next < 0x20 ? "%%%02x" : "%c",
			    (unsigned char)*next);
	text_append_string(&uri, "?immutable=1");
	return open_handle(database, text_string(&uri), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
			   error);
}

static int check_file(const char *path, struct error *error)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char magic[16] = "";
	struct stat file;

	if (fd < 0 && errno == ENOENT)
		return error_set(error, -ENOENT,
				 "there is no %s: `taskscope record --store %s` makes it", path,
				 path);
	if (fd < 0 || fstat(fd, &file) < 0)
		return error_set(error, -errno, "cannot read %s: %s", path, strerror(errno));
	if (!S_ISREG(file.st_mode) || file_read_at(fd, 0, magic, sizeof(magic)) != sizeof(magic) ||
	    memcmp(magic, "SQLite format 3", sizeof(magic)) != 0)
		return error_set(error, -EBADMSG,
				 "%s is not a recording: `taskscope record` makes one", path);
	return 0;
}

static bool exists_beside(const struct place *place, const char *ending)
{
	char name[sizeof(place->name) + 16];
	struct stat file;

	snprintf(name, sizeof(name), "%s%s", place->name, ending);
	return fstatat(place->dir, name, &file, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Whether SQLite may open the file together with those beside it, which it believes, makes and maps
 * into memory: only where nobody but root and the caller can have put them, or can put them now.
 */
static bool may_share(const char *path)
{
	CLEANUP(place_close) struct place place = { .dir = -1 };

	if (place_open(&place, path) < 0 || place.is_exposed || !are_ours(&place))
		return false;
	return !place.is_shared || (exists_beside(&place, "-wal") && exists_beside(&place, "-shm"));
}

/* Reads something, so that what SQLite cannot open is noticed here. */
static int start_reading(struct database *database, int status, struct error *error)
{
	if (status == 0)
		status = configure(database, error);
	return status < 0 ? status :
			    database_run(database, "SELECT count(*) FROM sqlite_schema", error);
}

static int open_shared(struct database *database, const char *path, struct error *error)
{
	return start_reading(database, open_handle(database, path, SQLITE_OPEN_READONLY, error),
			     error);
}

/* A WAL that cannot be read, or must not be believed. */
static int refuse_wal(const char *path, int status, bool is_ours, struct error *error)
{
	return error_set(error, status,
			 is_ours ?
				 "cannot read %s: its recorder is running, or was killed: read "
				 "it as the user who records" :
				 "cannot read %s: its recorder is running, or was killed, and "
				 "others can change the file %s-wal beside it: read it as the user "
				 "who records",
			 path, path);
}

int database_open_reader(struct database *database, const char *path, bool takes_long,
			 struct error *error)
{
	struct error first = { 0 };
	bool is_ours;
	int status;

	*database = (struct database){ .lock = -1 };
	status = check_file(path, error);
	if (status < 0)
		return status;
	database->path = strdup(path);
	if (!database->path)
		return error_set(error, -ENOMEM, "not enough memory");
	is_ours = may_share(path);
	if (!is_ours && !has_no_wal(path))
		return refuse_wal(path, -EACCES, false, error);
	if (is_ours && (takes_long || !has_no_wal(path))) {
		status = open_shared(database, path, &first);
		if (status != -EACCES && status != -EROFS)
			return status < 0 ? error_set(error, status, "%s", first.message) : 0;
		if (!has_no_wal(path))
			return refuse_wal(path, status, true, error);
	}
	database->is_immutable = true;
	return start_reading(database, open_immutable(database, path, error), error);
}

int database_refresh(struct database *database, struct error *error)
{
	CLEANUP(free_pointer) char *path = NULL;

	if (!database->is_immutable || has_no_wal(database->path))
		return 0;
	path = TAKE_PTR(database->path);
	database_close(database);
	return database_open_reader(database, path, false, error);
}

void database_close(struct database *database)
{
	sqlite3_close(database->handle);
	close_fd(&database->lock);
	free(database->path);
	*database = (struct database){ .lock = -1 };
}

void database_cut_wal(struct database *database)
{
	sqlite3_busy_timeout(database->handle, MOMENT_MS);
	sqlite3_wal_checkpoint_v2(database->handle, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(database->handle, BUSY_TIMEOUT_MS);
}

uint64_t database_size(const struct database *database)
{
	CLEANUP(text_free) struct text wal = { 0 };
	struct stat file;
	uint64_t size = stat(database->path, &file) == 0 ? (uint64_t)file.st_size : 0;

	text_format(&wal, "%s-wal", database->path);
	return size + (stat(text_string(&wal), &file) == 0 ? (uint64_t)file.st_size : 0);
}

/* What SQLite says, for programs and for people. */
static const struct {
	int code, status;
	const char *reason, *advice;
} failures[] = {
	{ SQLITE_FULL, -ENOSPC, "no space is left", "free some, or keep less" },
	{ SQLITE_READONLY, -EROFS, "it cannot be written", "write elsewhere with --store" },
	{ SQLITE_PERM, -EACCES, "permission denied", "use the user who owns it" },
	{ SQLITE_CANTOPEN, -EACCES, "it, or a file beside it, cannot be opened",
	  "check who may write to its directory" },
	{ SQLITE_IOERR, -EIO, "the disk failed", "look at the kernel's log" },
	{ SQLITE_BUSY, -EBUSY, "another program has locked it", "try again" },
	{ SQLITE_LOCKED, -EBUSY, "another program has locked it", "try again" },
	{ SQLITE_NOMEM, -ENOMEM, "not enough memory", "try again" },
	{ SQLITE_CORRUPT, -EBADMSG, "it is damaged", "`taskscope verify --repair` saves the rest" },
	{ SQLITE_NOTADB, -EBADMSG, "it is damaged, or not a recording", "check the name" },
	{ SQLITE_TOOBIG, -EBADMSG, "it is damaged", "`taskscope verify --repair` saves the rest" },
};

int database_fail(const struct database *database, const char *action, struct error *error)
{
	int code = database->handle ? sqlite3_errcode(database->handle) : SQLITE_NOMEM;

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		if (failures[i].code == (code & 0xff))
			return error_set(error, failures[i].status, "cannot %s %s: %s: %s", action,
					 database->path, failures[i].reason, failures[i].advice);
	return error_set(error, -EBADMSG, "cannot %s %s: it is damaged (%s)", action,
			 database->path, sqlite3_errmsg(database->handle));
}

int database_run(struct database *database, const char *sql, struct error *error)
{
	if (sqlite3_exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return database_fail(database, database->lock < 0 ? "read" : "write", error);
}

int64_t database_number(struct database *database, const char *sql, int64_t otherwise)
{
	CLEANUP(statement_free) sqlite3_stmt *statement = database_prepare(database, sql);

	if (statement && sqlite3_step(statement) == SQLITE_ROW &&
	    sqlite3_column_type(statement, 0) == SQLITE_INTEGER)
		return sqlite3_column_int64(statement, 0);
	return otherwise;
}

sqlite3_stmt *database_prepare(struct database *database, const char *sql)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v3(database->handle, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement,
			       NULL) != SQLITE_OK)
		return NULL;
	return statement;
}

void statement_free(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

/* All functions below leave a failure for the step: a parameter that is not bound is NULL. */
void bind_number(sqlite3_stmt *statement, int *index, uint64_t number)
{
	sqlite3_bind_int64(statement, ++*index, (sqlite3_int64)number);
}

void bind_optional(sqlite3_stmt *statement, int *index, bool is_known, uint64_t number)
{
	if (is_known)
		bind_number(statement, index, number);
	else
		sqlite3_bind_null(statement, ++*index);
}

void bind_real(sqlite3_stmt *statement, int *index, bool is_known, double number)
{
	if (is_known)
		sqlite3_bind_double(statement, ++*index, number);
	else
		sqlite3_bind_null(statement, ++*index);
}

void bind_text(sqlite3_stmt *statement, int *index, const char *text)
{
	sqlite3_bind_text(statement, ++*index, text, -1, SQLITE_STATIC);
}

void bind_command(sqlite3_stmt *statement, int *index, const char *command, size_t most)
{
	sqlite3_bind_text(statement, ++*index, command, command ? (int)strnlen(command, most) : 0,
			  SQLITE_STATIC);
}

void bind_blob(sqlite3_stmt *statement, int *index, const void *bytes, size_t size)
{
	sqlite3_bind_blob64(statement, ++*index, bytes, size, SQLITE_STATIC);
}

bool column_number(sqlite3_stmt *statement, int column, uint64_t *ret)
{
	if (sqlite3_column_type(statement, column) != SQLITE_INTEGER)
		return false;
	*ret = (uint64_t)sqlite3_column_int64(statement, column);
	return true;
}

uint64_t column_number_or(sqlite3_stmt *statement, int column, uint64_t otherwise)
{
	column_number(statement, column, &otherwise);
	return otherwise;
}

bool column_real(sqlite3_stmt *statement, int column, double *ret)
{
	int type = sqlite3_column_type(statement, column);

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return false;
	*ret = sqlite3_column_double(statement, column);
	return true;
}

const char *column_text(sqlite3_stmt *statement, int column)
{
	const char *text;

	if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
		return NULL;
	text = (const char *)sqlite3_column_text(statement, column);
	if (!text || strlen(text) != (size_t)sqlite3_column_bytes(statement, column))
		return NULL;
	return text;
}
